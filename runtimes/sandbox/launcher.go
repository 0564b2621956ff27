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
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Limits after which a launcher is replaced. Children of one fork server share their memory layout and their hash seed.
// A program that finds these out could use them to attack later runs, so a fork server is replaced often. Without a
// fork server, children share nothing that a program can see.
const (
	forksPerServer = 1000
	ageOfServer    = 10 * time.Minute
	idleLauncher   = time.Minute      // an unused launcher ends after this time
	destroyTimeout = 10 * time.Second // a launcher that has not destroyed a killed child after this time has a fault
)

// Limits of a launcher itself, in addition to wire.LauncherMemory. For each child, a launcher stores the files of the
// child's job (at most 12 MiB) and one unfinished host call (4 MiB with its copies). It reads jobs within JobMemory, and
// forwards results in pieces. So with maxChildren children it stays below its memory limit, whatever their programs do.
const (
	launcherTasks = 512
	maxChildren   = 64
)

// launchers is the set of launchers. The key is Profile.Launcher.
type launchers struct {
	mu     sync.Mutex
	named  map[string]*launcher
	making map[string]chan struct{} // closed when the pending launcher is ready or has failed
}

// launcher is the server's handle for a process that starts children.
type launcher struct {
	sandbox *Sandbox
	name    string
	forks   bool
	handles int   // number of descriptors that come with a ready child
	jail    *Jail // the launcher's own jail
	control io.Closer
	send    func(message, rights []byte) error
	who     identity
	born    time.Time

	mu       sync.Mutex
	children map[int64]*Jail
	next     int64
	retired  bool // the launcher starts no more children, and ends with its last child
	used     time.Time
	idle     *time.Timer
}

// prepareChild prepares a jail through its launcher.
func (s *Sandbox) prepareChild(ctx context.Context, profile Profile) (*Jail, error) {
	for {
		from, err := s.launcher(ctx, profile)
		if err != nil {
			return nil, err
		}
		j, err := from.child(ctx, profile)
		if errors.Is(err, errRetired) { // meanwhile other callers have used up the launcher
			continue
		}
		return j, err
	}
}

// launcher returns the launcher named in the profile. If there is none, it starts one. If another goroutine already
// starts one, it waits for that.
func (s *Sandbox) launcher(ctx context.Context, profile Profile) (*launcher, error) {
	for {
		s.launchers.mu.Lock()
		current := s.launchers.named[profile.Launcher]
		if current != nil && current.usable() {
			if current.ageing() && s.launchers.making[profile.Launcher] == nil {
				s.announce(profile.Launcher)
				go s.succeed(profile, current) //nolint:gosec // not bound to ctx, because the successor is for later callers
			}
			s.launchers.mu.Unlock()
			return current, nil
		}
		wait := s.launchers.making[profile.Launcher]
		if wait == nil {
			s.announce(profile.Launcher)
			s.launchers.mu.Unlock()
			return s.fillLauncher(ctx, profile)
		}
		s.launchers.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// announce records that a launcher with this name is being started. The caller holds the lock.
func (s *Sandbox) announce(name string) { s.launchers.making[name] = make(chan struct{}) }

// fillLauncher starts the launcher that announce recorded, and wakes the goroutines that wait for it.
func (s *Sandbox) fillLauncher(ctx context.Context, profile Profile) (*launcher, error) {
	made, err := s.makeLauncher(ctx, profile)
	s.launchers.mu.Lock()
	defer s.launchers.mu.Unlock()
	if err == nil {
		s.launchers.named[profile.Launcher] = made
	}
	close(s.launchers.making[profile.Launcher])
	delete(s.launchers.making, profile.Launcher)
	return made, err
}

// forgetLauncher removes a dead launcher from the map. Otherwise the map would grow without limit, because each fork
// server has a new name.
func (s *Sandbox) forgetLauncher(dead *launcher) {
	s.launchers.mu.Lock()
	defer s.launchers.mu.Unlock()
	if s.launchers.named[dead.name] == dead {
		delete(s.launchers.named, dead.name)
	}
}

// succeed starts the successor of a launcher that still starts children, so that no caller has to wait for the successor.
func (s *Sandbox) succeed(profile Profile, old *launcher) {
	ctx, cancel := context.WithTimeout(context.Background(), setupTime)
	defer cancel()
	if _, err := s.fillLauncher(ctx, profile); err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "replace a launcher", slog.String("launcher", profile.Launcher), slog.Any("error", err))
		return
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	old.retireOnce()
}

func (s *Sandbox) makeLauncher(ctx context.Context, profile Profile) (*launcher, error) {
	config, err := s.configure(profile)
	if err != nil {
		return nil, err
	}
	own := profile
	own.Limits = runtimes.Limits{MemoryBytes: wire.LauncherMemory, Processes: launcherTasks}
	j, err := s.launch(ctx, own, config)
	if err != nil {
		return nil, err
	}
	control, err := wire.SendControl(j.conn)
	if err != nil {
		return nil, j.discard(err)
	}
	made := &launcher{
		sandbox: s, name: profile.Launcher, forks: profile.Forks != nil, handles: 1, jail: j, control: control, who: j.who,
		born: time.Now(), used: time.Now(), children: map[int64]*Jail{},
		send: func(message, rights []byte) error {
			_, _, err := control.WriteMsgUnix(message, rights, nil)
			return err
		},
	}
	if profile.Network {
		made.handles++
	}
	made.idle = time.AfterFunc(idleLauncher, made.retireIdle)
	go func() {
		defer control.Close()
		buffer := make([]byte, wire.MaxNotice)
		for {
			message, fds, err := wire.ReceiveMessage(control, buffer)
			if err != nil {
				made.ended()
				return
			}
			made.handleNotice(message, fds)
		}
	}()
	return made, nil
}

var (
	errRetired = errors.New("the launcher has retired")
	errSlow    = errors.New("start a jail: it took too long")
)

// usable reports whether the launcher may start another child.
func (s *launcher) usable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.retired && s.forks && (s.next >= forksPerServer || time.Since(s.born) > ageOfServer) {
		s.retire()
	}
	return !s.retired
}

// ageing reports whether a successor should be started now.
func (s *launcher) ageing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.children) >= maxChildren*4/5 || s.forks && (s.next >= forksPerServer*4/5 || time.Since(s.born) > ageOfServer*4/5)
}

// retire ends the launcher when its last child is gone. The caller holds the lock.
func (s *launcher) retire() {
	s.retired = true
	s.idle.Stop()
	if len(s.children) == 0 {
		s.jail.Kill()
	}
}

// retireOnce retires the launcher unless it is retired already. The caller holds the lock.
func (s *launcher) retireOnce() {
	if !s.retired {
		s.retire()
	}
}

func (s *launcher) retireIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest := idleLauncher - time.Since(s.used); len(s.children) > 0 || rest > 0 {
		s.idle.Reset(max(rest, time.Second))
		return
	}
	s.retire()
}

// child requests a jail from the launcher and waits until the jail is set up.
func (s *launcher) child(ctx context.Context, profile Profile) (*Jail, error) {
	j, request, theirs, err := s.request(profile)
	if err != nil {
		return nil, err
	}
	if err = errors.Join(s.send(request, unix.UnixRights(theirs.list()...)), theirs.conn.Close()); err != nil {
		unsent := wire.Notice{Gone: true, Error: err.Error()}
		if disconnected(err) { // retire the launcher now: the server has not noticed its end, and the next attempt would use it
			unsent.Signal = int(unix.SIGKILL)
			s.mu.Lock()
			s.retireOnce()
			s.mu.Unlock()
		}
		j.childEnded(unsent)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, setupTime, errSlow)
	defer cancel()
	select {
	case <-j.ready:
		return j, j.open()
	case <-j.gone:
		err = fmt.Errorf("start a jail: %s", j.reported)
		if j.exit.Signal == int(unix.SIGKILL) { // the child or its launcher was killed
			err = errors.Join(errKilled, err)
		}
		return nil, err
	case <-ctx.Done():
	}
	err = ctx.Err()
	// A launcher that is too slow for this child would also be too slow for later ones.
	if errors.Is(context.Cause(ctx), errSlow) {
		err = errSlow
		s.mu.Lock()
		s.retireOnce()
		s.mu.Unlock()
	}
	go func() { // if the child starts later, kill it
		select {
		case <-j.ready:
			j.Kill()
		case <-j.gone:
		}
		j.Wait()
	}()
	return nil, err
}

// request acquires the resources of a child and registers the child. This must happen before the launcher can send a
// notice about the child.
func (s *launcher) request(profile Profile) (j *Jail, message []byte, theirs passed, err error) {
	box := s.sandbox
	if err := box.begin(); err != nil {
		return nil, nil, passed{}, err
	}
	defer box.starting.Done()
	disk := diskOf(profile)
	j = &Jail{sandbox: box, launcher: s, filter: profile.Filter, disk: disk, ended: make(chan struct{}), gone: make(chan struct{}), ready: make(chan struct{})}
	if j.id, err = box.ids.acquire(); err != nil {
		return nil, nil, passed{}, err
	}
	if j.group, err = box.groups.Child(); err != nil {
		box.ids.release(j.id)
		return nil, nil, passed{}, err
	}
	if j.conn, theirs.conn, err = socketPair(); err != nil {
		return nil, nil, passed{}, errors.Join(err, j.release())
	}
	fail := func(err error) (*Jail, []byte, passed, error) {
		return nil, nil, passed{}, errors.Join(err, j.conn.Close(), theirs.conn.Close(), j.release())
	}
	if j.group != nil {
		if theirs.descriptors, err = j.group.Descriptors(); err != nil {
			return fail(err)
		}
	}
	if err := j.Limit(profile.Limits); err != nil {
		return fail(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.children) >= maxChildren {
		s.retireOnce()
	}
	if s.retired {
		return fail(errRetired)
	}
	s.next++
	s.used = time.Now()
	j.number = s.next
	message, err = json.Marshal(wire.Order{ID: j.number, User: wire.InsideID + j.id.uid - s.who.first.uid, Disk: disk})
	if err != nil {
		return fail(err)
	}
	s.children[j.number] = j
	box.add(j)
	return j, message, theirs, nil
}

// handleNotice handles one notice of the launcher.
func (s *launcher) handleNotice(message []byte, fds []int) {
	var n wire.Notice
	err := json.Unmarshal(message, &n)
	s.mu.Lock()
	j := s.children[n.ID]
	s.mu.Unlock()
	switch {
	case err != nil || j == nil || !n.Gone && len(fds) != s.handles:
		wire.CloseAll(fds)
		s.sandbox.log.LogAttrs(context.Background(), slog.LevelError, "a launcher breaks its protocol", slog.String("launcher", s.name))
		s.jail.Kill()
	case n.Gone:
		wire.CloseAll(fds)
		j.childEnded(n)
	default:
		j.childReady(fds)
	}
}

// launcherEnded is the reason that is reported for children that ended with their launcher.
const launcherEnded = "its launcher ended"

// ended marks every child of a dead launcher as destroyed, because the kernel killed them with the launcher.
func (s *launcher) ended() {
	s.jail.Kill()
	exit := s.jail.Wait()
	s.sandbox.forgetLauncher(s)
	s.mu.Lock()
	unexpected := !s.retired
	s.retired = true
	s.idle.Stop()
	var all []*Jail
	for _, j := range s.children {
		all = append(all, j)
	}
	s.mu.Unlock()
	for _, j := range all {
		j.childEnded(wire.Notice{Gone: true, Signal: int(unix.SIGKILL), Error: launcherEnded, Orphaned: true})
	}
	if unexpected && !s.sandbox.isClosed() {
		s.sandbox.log.LogAttrs(context.Background(), slog.LevelWarn, "a launcher ended unexpectedly", slog.String("launcher", s.name),
			slog.Int("signal", exit.Signal), slog.Int("code", exit.Code), slog.String("stderr", exit.Summary()))
	}
}

// forget removes a destroyed child from the list. If the child crashed, its program may have tried to find out the
// memory layout that all children of a fork server share. So later children come from a new fork server.
func (s *launcher) forget(j *Jail, signal int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.children, j.number)
	s.used = time.Now()
	crashed := s.forks && (signal == int(unix.SIGSEGV) || signal == int(unix.SIGBUS) || signal == int(unix.SIGILL) || signal == int(unix.SIGSYS))
	if crashed && !s.retired || s.retired && len(s.children) == 0 {
		s.retire()
	}
}

// passed is the set of descriptors sent with an order: the child's end of its connection, and the files through which its
// process joins its control group. The group still owns these files and closes them.
type passed struct {
	conn        *os.File
	descriptors []*os.File
}

func (p passed) list() []int {
	all := []int{int(p.conn.Fd())}
	for _, file := range p.descriptors {
		all = append(all, int(file.Fd()))
	}
	return all
}

// hostPID returns the ID of a pidfd's process, as this process sees it.
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
	return 0, errors.New("the pidfd names no process")
}
