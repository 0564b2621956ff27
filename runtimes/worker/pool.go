package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Options configure a Pool.
type Options struct {
	Jailer  Jailer
	Profile sandbox.Profile // profile of every jail; a run with another disk size gets a jail that is prepared for it
	Reuse   Reuse           // limits of reuse; with the zero value, a jail runs one job
	Idle    int             // number of prepared jails that wait for a run
	// Idle jails are destroyed this long after the last run; before the first run there are none; 0: idle jails always
	// exist.
	Rest  time.Duration
	Guest string // workspace of self-tests: its runs do not make a resting pool prepare jails
	Max   int    // maximum number of jails; further runs wait; default 16
	// Payload of a first Job frame, to which a jail replies with Ready before it receives its job; nil for none.
	Prelude any
	Now     func() time.Time
	Log     *slog.Logger // logs workers that ended unexpectedly; nil for none
}

// Reuse contains the limits after which a worker that runs several jobs is replaced. After a failed run, the worker is
// replaced at once.
type Reuse struct {
	Runs   int
	Age    time.Duration
	Memory int64 // peak memory of one run, in bytes
}

// Stats contains the current numbers of workers, and the totals since the pool was created.
type Stats struct {
	Idle      int   // prepared workers that have no run
	Busy      int   // workers with a run
	Preparing int   // workers that are being prepared in advance
	Waiting   int   // runs that wait for a worker
	Started   int64 // number of workers that have become ready since the pool started
	Died      int64 // part of Started: workers that ended by themselves or were killed from outside
	Retired   int64 // part of Started: workers that the pool ended
}

// Plus returns the sums of the numbers of two pools.
func (s Stats) Plus(other Stats) Stats {
	return Stats{
		Idle: s.Idle + other.Idle, Busy: s.Busy + other.Busy, Preparing: s.Preparing + other.Preparing, Waiting: s.Waiting + other.Waiting,
		Started: s.Started + other.Started, Died: s.Died + other.Died, Retired: s.Retired + other.Retired,
	}
}

// Pool prepares jails in advance and assigns them to runs. A jail executes one run at a time, and only runs of one
// workspace.
type Pool struct {
	options Options
	ctx     context.Context // ends when the pool closes, and cancels every run
	stop    context.CancelFunc
	joined  sync.WaitGroup // waits for the spawner, and for the goroutines that destroy workers
	wake    chan struct{}  // notifies the spawner that a run has taken a jail

	mu        sync.Mutex
	idle      []*member     // idle workers; the one that is idle longest comes first
	places    int           // number of jails that exist, are being prepared or are being destroyed
	busy      int           // part of places: jails with a run
	preparing int           // part of places: jails that the spawner is preparing
	waiting   int           // runs without a worker; they get a free place before jails are prepared in advance
	started   int64         // number of jails that have become ready
	died      int64         // part of started: jails that the pool did not end
	retired   int64         // part of started: jails that the pool ended
	asked     time.Time     // time of the last request of a run for a jail
	changed   chan struct{} // closed and replaced when a place or a worker becomes free
	failure   error         // error of the last attempt to prepare an idle jail, nil if it succeeded
}

// member is a jail of the pool.
type member struct {
	*peer
	workspace string // workspace of the jail's runs; "" before the first run
	runs      int
	born      time.Time
	died      bool // ended by itself or killed from outside, not ended by the pool
}

// NewPool starts a pool. The pool begins to prepare idle jails in the background. The caller must Close it.
func NewPool(options Options) *Pool {
	if options.Max <= 0 {
		options.Max = 16
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Pool{options: options, ctx: ctx, stop: stop, wake: make(chan struct{}, 1), changed: make(chan struct{})}
	if options.Idle > 0 || options.Reuse.Age > 0 { // old workers must be ended even if there are no runs
		p.joined.Go(p.keep)
	}
	return p
}

// maxAttempts is the maximum number of workers that a run gets one after the other. A run gets another worker if its
// worker or the worker's launcher ends, or if the host runs out of memory. The number is limited because the job itself
// could be the cause.
const maxAttempts = 3

// Run executes one task on a worker of the pool. It returns an error only if the server failed. If the program has not
// started, the run gets another worker in three cases: its worker ends, the worker's launcher ends, or the host runs
// out of memory.
func (p *Pool) Run(ctx context.Context, task Task, host runtimes.Host) (runtimes.Outcome, error) {
	asked := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	for attempt := 1; ; attempt++ {
		outcome, err := p.try(ctx, task, host, asked)
		if attempt == maxAttempts || !unrelatedToRun(err) || errors.Is(err, ErrLost) {
			return outcome, err
		}
	}
}

// unrelatedToRun reports whether the end of a worker probably has nothing to do with its run.
func unrelatedToRun(err error) bool {
	return errors.Is(err, errOrphaned) || errors.Is(err, errEnded) || errors.Is(err, errStarved)
}

// try executes a task on one worker. Run may call it again for another worker.
func (p *Pool) try(ctx context.Context, task Task, host runtimes.Host, asked time.Time) (runtimes.Outcome, error) {
	m, err := p.takeLimited(ctx, task.Job, task.Overhead)
	// Check ctx here, because a short program could succeed before the session notices the cancellation.
	if ctx.Err() != nil {
		if err == nil {
			p.release(m, task.Job, true)
		}
		return runtimes.Outcome{Error: reached(runtimes.Cancelled, task.Job.Limits), Level: p.options.Jailer.Level()}, nil
	}
	if err != nil {
		return runtimes.Outcome{}, err
	}
	fit := false
	defer func() { p.release(m, task.Job, fit) }()
	if m.runs > 0 {
		m.jail.ResetPeak()
	}
	stop, err := m.network(task)
	if err != nil {
		return runtimes.Outcome{}, err
	}
	session := newSession(m.peer, task, host, asked)
	outcome, fit, err := session.run(ctx)
	if !unrelatedToRun(err) { // if the worker has ended, its listener is closed, and the next worker has its own listener
		stop()
	}
	if session.endedBy != nil { // log the end of the worker, because the cause may be the program or the server
		m.died = true
		p.options.Log.LogAttrs(ctx, slog.LevelWarn, "worker ended unexpectedly", slog.String("run_id", task.Job.RunID), slog.String("error", session.endedBy.Error()))
	}
	if fit && p.options.Reuse.Memory > 0 && outcome.Usage.PeakMemory > p.options.Reuse.Memory {
		fit = false
	}
	outcome.Level = p.options.Jailer.Level()
	return outcome, err
}

// Warm waits until the idle jails are ready. If a jail cannot be prepared, it returns the error. Like a run, Warm makes
// a resting pool prepare jails.
func (p *Pool) Warm(ctx context.Context) error {
	p.mu.Lock()
	p.asked = p.options.Now()
	p.mu.Unlock()
	p.nudge()
	for {
		p.mu.Lock()
		ready, failure, changed := p.unused() >= min(p.options.Idle, p.options.Max), p.failure, p.changed
		p.mu.Unlock()
		switch {
		case ready:
			return nil
		case failure != nil:
			return failure
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ctx.Done():
			return errClosed
		}
	}
}

// Stats returns the numbers of workers.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{
		Idle: len(p.idle), Busy: p.busy, Preparing: p.preparing, Waiting: p.waiting, Started: p.started, Died: p.died, Retired: p.retired,
	}
}

// Close cancels every run, kills every jail and waits until their resources are released.
func (p *Pool) Close() {
	p.mu.Lock()
	p.stop()
	for _, m := range p.idle {
		p.destroy(m)
	}
	p.idle = nil
	for p.places > 0 {
		changed := p.changed
		p.mu.Unlock()
		<-changed
		p.mu.Lock()
	}
	p.mu.Unlock()
	p.joined.Wait() // this comes last, because a run that ends may still start a goroutine that destroys its worker
}

var errClosed = &fault.Error{Code: fault.ShuttingDown, Message: "The server is shutting down."}

// takeLimited returns a worker with the run's limits. If a worker still uses more memory from earlier runs than the
// limit allows, takeLimited destroys that worker and tries another one.
func (p *Pool) takeLimited(ctx context.Context, job runtimes.Job, overhead int64) (*member, error) {
	limits := job.Limits
	limits.MemoryBytes += overhead
	for {
		m, err := p.take(ctx, job)
		if err != nil {
			return nil, err
		}
		if err = m.jail.Limit(limits); err == nil {
			return m, nil
		}
		again := m.runs > 0 || m.dead() // try another worker if this one was used before or ended while idle
		p.release(m, job, false)
		if !again {
			return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: "The sandbox could not set the limits of the run.", Err: err}
		}
	}
}

// network starts the network service of a task on the jail's listener. If the task needs no network, it does nothing.
func (m *member) network(task Task) (stop func(), err error) {
	if task.Network == nil {
		return func() {}, nil
	}
	listener := m.jail.Network()
	if listener == nil {
		return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: "The sandbox could not set up the network of the run."}
	}
	return task.Network(listener), nil
}

func (m *member) dead() bool {
	select {
	case <-m.jail.Done():
		return true
	default:
		return false
	}
}

// take returns a worker that this run may use. If there is none, it prepares one. It waits while Options.Max jails
// exist.
func (p *Pool) take(ctx context.Context, job runtimes.Job) (*member, error) {
	profile := p.options.Profile
	// Not for fork servers, because each workspace has its own pool of them.
	if profile.Launcher != "" && profile.Forks == nil && job.Workspace != "" {
		profile.Launcher += " of " + job.Workspace
	}
	special := profile.Filter.Foreign() && job.Limits.DiskBytes != profile.DiskBytes
	if special {
		profile.DiskBytes = job.Limits.DiskBytes
	}
	for {
		p.mu.Lock()
		if p.ctx.Err() != nil {
			p.mu.Unlock()
			return nil, errClosed
		}
		if job.Workspace == "" || job.Workspace != p.options.Guest {
			p.asked = p.options.Now()
		}
		if m := p.pick(job, special); m != nil {
			p.busy++
			last := p.unused() == 0
			p.mu.Unlock()
			// This run takes the last idle worker, so prepare the next one now; otherwise it is prepared after this run.
			if last {
				p.nudge()
			}
			return m, nil
		}
		if p.places < p.options.Max {
			p.places++
			p.busy++
			p.mu.Unlock()
			m, err := p.prepare(ctx, profile)
			p.mu.Lock()
			if err == nil {
				p.started++
			} else {
				p.busy--
			}
			p.mu.Unlock()
			if err != nil {
				p.vacate()
			}
			return m, err
		}
		// The idle workers belong to other workspaces or have another disk size, so destroy one of them.
		if len(p.idle) > 0 {
			p.destroy(p.idle[0])
			p.idle = p.idle[1:]
		}
		if err := p.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// wait waits until a place or a worker becomes free. The caller must hold the lock, which wait releases while it waits.
func (p *Pool) wait(ctx context.Context) error {
	changed := p.changed
	p.waiting++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.waiting--
		p.mu.Unlock()
	}()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pick removes an idle worker from the list and returns it. It chooses a worker of the run's workspace, or an unused
// worker. If there is none, it returns nil. Before that, it destroys workers that are dead or too old.
func (p *Pool) pick(job runtimes.Job, special bool) *member {
	p.sweep()
	if special {
		return nil
	}
	find := func(workspace string) *member {
		// Prefer the most recently used worker, because its memory is most likely still in the CPU's caches.
		for i := len(p.idle) - 1; i >= 0; i-- {
			if m := p.idle[i]; m.workspace == workspace {
				p.idle = slices.Delete(p.idle, i, i+1)
				return m
			}
		}
		return nil
	}
	if job.Isolation != runtimes.Strict && job.Workspace != "" {
		if m := find(job.Workspace); m != nil {
			return m
		}
	}
	return find("")
}

// rests reports whether the pool is resting (see Options.Rest) and must have no idle jails. The caller holds the lock.
func (p *Pool) rests() bool {
	return p.options.Rest > 0 && (p.asked.IsZero() || p.options.Now().Sub(p.asked) > p.options.Rest)
}

// sweep destroys idle workers that are dead or too old. In a resting pool it destroys all idle workers.
func (p *Pool) sweep() {
	p.idle = slices.DeleteFunc(p.idle, func(m *member) bool {
		select {
		case <-m.jail.Done():
			m.died = true
		default:
			if !p.old(m) && !p.rests() {
				return false
			}
		}
		p.destroy(m)
		return true
	})
}

func (p *Pool) old(m *member) bool {
	return p.options.Reuse.Age > 0 && m.runs > 0 && p.options.Now().Sub(m.born) > p.options.Reuse.Age
}

// release returns a worker to the pool after a run, or destroys it.
func (p *Pool) release(m *member, job runtimes.Job, fit bool) {
	m.runs++
	m.workspace = job.Workspace
	p.mu.Lock()
	p.busy--
	keep := fit && m.workspace != "" && job.Isolation != runtimes.Strict && m.runs < p.options.Reuse.Runs && !p.old(m) && p.ctx.Err() == nil
	if keep {
		p.idle = append(p.idle, m)
		p.announce()
	} else {
		p.destroy(m)
	}
	wanting := p.wanting()
	p.mu.Unlock()
	if wanting { // otherwise waking the spawner has no use
		p.nudge()
	}
}

// destroy kills a worker in the background. When the worker's resources are released, it frees the worker's place.
// Callers do not wait for that, because it takes the kernel longer than most programs run. The caller must hold the
// lock.
func (p *Pool) destroy(m *member) {
	if m.died {
		p.died++
	} else {
		p.retired++
	}
	p.joined.Go(func() {
		m.jail.Kill()
		m.jail.Wait()
		p.vacate()
	})
}

func (p *Pool) vacate() {
	p.mu.Lock()
	p.places--
	p.announce()
	p.mu.Unlock()
	p.nudge()
}

// announce wakes all goroutines that wait for a change. The caller holds the lock.
func (p *Pool) announce() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Pool) prepare(ctx context.Context, profile sandbox.Profile) (*member, error) {
	jail, err := p.options.Jailer.Prepare(ctx, profile)
	if err != nil {
		return nil, err
	}
	m := &member{peer: newPeer(jail), born: p.options.Now()}
	if p.options.Prelude == nil {
		return m, nil
	}
	if err := m.prelude(ctx, p.options.Prelude); err != nil {
		jail.Kill()
		exit := jail.Wait()
		return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: "The sandbox could not be prepared.", Err: errors.Join(accident(err, exit), m.ended(err, exit))}
	}
	return m, nil
}

// prelude sends Options.Prelude and waits until the worker replies that it is ready for a job.
func (m *member) prelude(ctx context.Context, payload any) error {
	defer context.AfterFunc(ctx, m.jail.Kill)()
	if err := m.jail.Conn().SetDeadline(time.Now().Add(startDeadline)); err != nil {
		return err
	}
	if err := m.out.WriteJSON(frames.Job, payload); err != nil {
		return err
	}
	if _, _, err := frames.NewReader(m.in, map[frames.Kind]int{frames.Ready: 0}).Read(); err != nil {
		return err
	}
	return m.jail.Conn().SetDeadline(time.Time{})
}

// unused counts idle workers that no run has used yet. The caller holds the lock.
func (p *Pool) unused() int {
	n := 0
	for _, m := range p.idle {
		if m.workspace == "" {
			n++
		}
	}
	return n
}

// wanting reports whether one more jail should be prepared in advance. The caller holds the lock.
func (p *Pool) wanting() bool {
	return p.ctx.Err() == nil && !p.rests() && p.waiting == 0 && p.unused() < p.options.Idle && p.places < p.options.Max
}

func (p *Pool) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// keep prepares jails in advance. It prepares only one jail at a time, so that runs are not slowed down.
func (p *Pool) keep() {
	const pause, rounds = time.Second, 5 * time.Second
	for {
		p.mu.Lock()
		p.sweep()
		wanted := p.wanting()
		if wanted {
			p.places++
			p.preparing++
		}
		p.mu.Unlock()

		wait := rounds
		if wanted {
			if p.add() {
				continue
			}
			wait = pause // wait before the next attempt, because an immediate one would make the host's problem worse
		}
		timer := time.NewTimer(wait)
		select {
		case <-p.ctx.Done():
			timer.Stop()
			return
		case <-p.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// add prepares one idle jail and reports whether that succeeded.
func (p *Pool) add() bool {
	m, err := p.prepare(p.ctx, p.options.Profile)
	p.mu.Lock()
	p.preparing--
	p.failure = err
	if err == nil {
		p.started++
	}
	switch {
	case err != nil:
		p.places--
	case p.ctx.Err() != nil:
		p.destroy(m)
	default:
		p.idle = append(p.idle, m)
	}
	p.announce()
	p.mu.Unlock()
	return err == nil
}
