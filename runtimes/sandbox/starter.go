package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes"
)

// When a starter is replaced. Children of one fork server share the layout of their memory and the seed of their hashes:
// what one run finds out must not serve the next ones for long. Without one nothing is shared that a program could see.
const (
	forksPerServer = 1000
	ageOfServer    = 10 * time.Minute
	idleStarter    = time.Minute      // one that nobody uses ends
	buryTime       = 10 * time.Second // a starter that does not bury a killed cell is broken
)

// Limits of a starter itself: it holds the jobs and results of its cells for a moment. Sixteen of the largest results at
// once, of hostile programs of one workspace, must not be the end of everybody's cells; they take some 1 GB.
const (
	starterMemory = 2 << 30
	starterTasks  = 512
)

// starters are the processes that start cells, by the names that profiles give them.
type starters struct {
	mu     sync.Mutex
	named  map[string]*starter
	making map[string]chan struct{} // closed when the one that is being made is there, or is not to be
}

// starter is the server's side of a process that starts cells.
type starter struct {
	sandbox *Sandbox
	name    string
	forks   bool
	handles int   // that come with a cell that is ready
	jail    *Jail // the starter's own
	control io.Closer
	send    func(message, rights []byte) error
	who     identity
	born    time.Time

	mu      sync.Mutex
	cells   map[int64]*Jail
	next    int64
	retired bool // no more cells; ends with the last one
	used    time.Time
	idle    *time.Timer
}

// prepareCell makes a jail by way of its starter.
func (s *Sandbox) prepareCell(ctx context.Context, profile Profile) (*Jail, error) {
	for again := true; ; {
		from, err := s.starter(ctx, profile)
		if err != nil {
			return nil, err
		}
		j, err := from.cell(ctx, profile)
		switch {
		case errors.Is(err, errRetired): // somebody else used it up meanwhile
		case err != nil && again && from.dead():
			again = false // it died of something else, and no cell is to blame
		default:
			return j, err
		}
	}
}

// dead says whether the starter's process has ended.
func (s *starter) dead() bool {
	select {
	case <-s.jail.Done():
		return true
	default:
		return false
	}
}

// starter answers the process of that name, made anew if need be.
func (s *Sandbox) starter(ctx context.Context, profile Profile) (*starter, error) {
	for {
		s.starters.mu.Lock()
		current := s.starters.named[profile.Starter]
		if current != nil && current.usable() {
			if current.ageing() && s.starters.making[profile.Starter] == nil {
				s.announce(profile.Starter)
				go s.succeed(profile, current) //nolint:gosec // it serves the next ones, whoever asks now
			}
			s.starters.mu.Unlock()
			return current, nil
		}
		wait := s.starters.making[profile.Starter]
		if wait == nil {
			s.announce(profile.Starter)
			s.starters.mu.Unlock()
			return s.fillStarter(ctx, profile)
		}
		s.starters.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// announce says that a starter of that name is being made. It needs the lock.
func (s *Sandbox) announce(name string) { s.starters.making[name] = make(chan struct{}) }

// fillStarter makes the starter that was announced.
func (s *Sandbox) fillStarter(ctx context.Context, profile Profile) (*starter, error) {
	made, err := s.makeStarter(ctx, profile)
	s.starters.mu.Lock()
	defer s.starters.mu.Unlock()
	if err == nil {
		s.starters.named[profile.Starter] = made
	}
	close(s.starters.making[profile.Starter])
	delete(s.starters.making, profile.Starter)
	return made, err
}

// forgetStarter takes a starter that is dead off the list. Names come and go: each fork server has its own.
func (s *Sandbox) forgetStarter(dead *starter) {
	s.starters.mu.Lock()
	defer s.starters.mu.Unlock()
	if s.starters.named[dead.name] == dead {
		delete(s.starters.named, dead.name)
	}
}

// succeed replaces a starter while it still works, so that nobody has to wait for its successor.
func (s *Sandbox) succeed(profile Profile, old *starter) {
	ctx, cancel := context.WithTimeout(context.Background(), setupTime)
	defer cancel()
	if _, err := s.fillStarter(ctx, profile); err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "replace a starter", slog.String("starter", profile.Starter), slog.Any("error", err))
		return
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	old.retireOnce()
}

func (s *Sandbox) makeStarter(ctx context.Context, profile Profile) (*starter, error) {
	config, err := s.configure(profile)
	if err != nil {
		return nil, err
	}
	own := profile
	own.Limits = runtimes.Limits{MemoryBytes: starterMemory, Processes: starterTasks}
	j, err := s.launch(ctx, own, config)
	if err != nil {
		return nil, err
	}
	control, err := sendControl(j.conn)
	if err != nil {
		j.Kill()
		j.Wait()
		return nil, err
	}
	made := &starter{
		sandbox: s, name: profile.Starter, forks: profile.Forks != nil, handles: 1, jail: j, control: control, who: j.who,
		born: time.Now(), used: time.Now(), cells: map[int64]*Jail{},
		send: func(message, rights []byte) error {
			_, _, err := control.WriteMsgUnix(message, rights, nil)
			return err
		},
	}
	if profile.Network {
		made.handles++
	}
	made.idle = time.AfterFunc(idleStarter, made.retireIdle)
	go func() {
		defer control.Close()
		buffer := make([]byte, maxNotice)
		for {
			message, fds, err := receiveMessage(control, buffer)
			if err != nil {
				made.lost()
				return
			}
			made.hear(message, fds)
		}
	}()
	return made, nil
}

var (
	errRetired = errors.New("the starter has retired")
	errSlow    = errors.New("start a jail: it took too long")
)

// usable says whether the starter may start another cell.
func (s *starter) usable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired && s.forks && (s.next >= forksPerServer || time.Since(s.born) > ageOfServer) {
		s.retire()
	}
	return !s.retired
}

// ageing says whether its successor should be made now.
func (s *starter) ageing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forks && (s.next >= forksPerServer*4/5 || time.Since(s.born) > ageOfServer*4/5)
}

// retire ends the starter when its last cell is gone. It needs the lock.
func (s *starter) retire() {
	s.retired = true
	s.idle.Stop()
	if len(s.cells) == 0 {
		s.jail.Kill()
	}
}

// retireOnce retires a starter that has not yet. It needs the lock.
func (s *starter) retireOnce() {
	if !s.retired {
		s.retire()
	}
}

func (s *starter) retireIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest := idleStarter - time.Since(s.used); len(s.cells) > 0 || rest > 0 {
		s.idle.Reset(max(rest, time.Second))
		return
	}
	s.retire()
}

// cell asks for a jail and waits until it is set up.
func (s *starter) cell(ctx context.Context, profile Profile) (*Jail, error) {
	j, request, theirs, err := s.request(profile)
	if err != nil {
		return nil, err
	}
	if err = errors.Join(s.send(request, unix.UnixRights(theirs.list()...)), theirs.conn.Close()); err != nil {
		j.lose(notice{Gone: true, Error: err.Error()})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, setupTime, errSlow)
	defer cancel()
	select {
	case <-j.ready:
		return j, j.open()
	case <-j.gone:
		return nil, fmt.Errorf("start a jail: %s", j.said)
	case <-ctx.Done():
	}
	err = ctx.Err()
	if errors.Is(context.Cause(ctx), errSlow) { // whatever keeps it will keep the next ones
		err = errSlow
		s.mu.Lock()
		s.retireOnce()
		s.mu.Unlock()
	}
	go func() { // it may come into being yet
		select {
		case <-j.ready:
			j.Kill()
		case <-j.gone:
		}
		j.Wait()
	}()
	return nil, err
}

// request takes what a cell needs and registers it, before the starter can say anything about it.
func (s *starter) request(profile Profile) (j *Jail, message []byte, theirs passed, err error) {
	box := s.sandbox
	if err := box.begin(); err != nil {
		return nil, nil, passed{}, err
	}
	defer box.starting.Done()
	disk := diskOf(profile)
	j = &Jail{sandbox: box, starter: s, filter: profile.Filter, disk: disk, ended: make(chan struct{}), gone: make(chan struct{}), ready: make(chan struct{})}
	if j.id, err = box.ids.take(); err != nil {
		return nil, nil, passed{}, err
	}
	if j.group, err = box.groups.Cell(); err != nil {
		box.ids.give(j.id)
		return nil, nil, passed{}, err
	}
	if j.conn, theirs.conn, err = socketPair(); err != nil {
		return nil, nil, passed{}, errors.Join(err, j.release())
	}
	fail := func(err error) (*Jail, []byte, passed, error) {
		return nil, nil, passed{}, errors.Join(err, j.conn.Close(), theirs.conn.Close(), j.release())
	}
	if j.group != nil {
		if theirs.doors, err = j.group.Doors(); err != nil {
			return fail(err)
		}
	}
	if err := j.Limit(profile.Limits); err != nil {
		return fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retired {
		return fail(errRetired)
	}
	s.next++
	s.used = time.Now()
	j.number = s.next
	message, err = json.Marshal(order{ID: j.number, User: insideID + j.id.uid - s.who.first.uid, Disk: disk})
	if err != nil {
		return fail(err)
	}
	s.cells[j.number] = j
	box.add(j)
	return j, message, theirs, nil
}

// hear takes what the starter says.
func (s *starter) hear(message []byte, fds []int) {
	var n notice
	err := json.Unmarshal(message, &n)
	s.mu.Lock()
	j := s.cells[n.ID]
	s.mu.Unlock()
	switch {
	case err != nil || j == nil || !n.Gone && len(fds) != s.handles:
		closeAll(fds)
		s.sandbox.log.LogAttrs(context.Background(), slog.LevelError, "a starter breaks its protocol", slog.String("starter", s.name))
		s.jail.Kill()
	case n.Gone:
		closeAll(fds)
		j.lose(n)
	default:
		j.begun(fds)
	}
}

// starterEnded is what cells died of that were buried with their starter.
const starterEnded = "its starter ended"

// lost buries every cell of a starter that is dead: they died with it.
func (s *starter) lost() {
	s.jail.Kill()
	exit := s.jail.Wait()
	s.sandbox.forgetStarter(s)
	s.mu.Lock()
	unexpected := !s.retired
	s.retired = true
	s.idle.Stop()
	var all []*Jail
	for _, j := range s.cells {
		all = append(all, j)
	}
	s.mu.Unlock()
	for _, j := range all {
		j.lose(notice{Gone: true, Signal: int(unix.SIGKILL), Error: starterEnded, orphaned: true})
	}
	if unexpected && !s.sandbox.isClosed() {
		s.sandbox.log.LogAttrs(context.Background(), slog.LevelWarn, "a starter ended unexpectedly", slog.String("starter", s.name),
			slog.Int("signal", exit.Signal), slog.Int("code", exit.Code), slog.String("stderr", exit.Said()))
	}
}

// forget takes a cell that is gone off the list. A cell that crashed its interpreter may have tried out what it learned
// about the memory that all children share: the next ones come from a new fork server.
func (s *starter) forget(j *Jail, signal int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cells, j.number)
	s.used = time.Now()
	crashed := s.forks && (signal == int(unix.SIGSEGV) || signal == int(unix.SIGBUS) || signal == int(unix.SIGILL) || signal == int(unix.SIGSYS))
	if crashed && !s.retired || s.retired && len(s.cells) == 0 {
		s.retire()
	}
}

// passed are the descriptors that go with an order: the cell's end of its connection, and the files by which its process
// joins its group, which stay the group's.
type passed struct {
	conn  *os.File
	doors []*os.File
}

func (p passed) list() []int {
	all := []int{int(p.conn.Fd())}
	for _, door := range p.doors {
		all = append(all, int(door.Fd()))
	}
	return all
}

// hostPID is the number of the process behind a handle, as this process sees it.
func hostPID(pidfd int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", pidfd))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "Pid:"); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, errors.New("the handle says no process")
}
