package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

// Usage is what a jail took until now, with our own process 1, as the kernel counts it.
type Usage struct {
	CPU         time.Duration
	PeakMemory  int64 // bytes; since ResetPeak where the kernel can do that
	OOMKilled   bool  // the memory limit was hit and something was killed; stays true
	PidsLimited bool  // a fork was refused because of the process limit; stays true
}

// Exit is how a jail ended.
type Exit struct {
	Signal int   // that ended process 1, 0 for none
	Code   int   // of process 1
	Usage  Usage // final
	// Stderr is what process 1 itself wrote there, head and tail: "fatal error: stack overflow" and the like. Once it had a
	// job it may hold what a program wants it to, with the program's secrets: logs and people get Said.
	Stderr string
	// Orphaned says that the process which started it ended, and every child with it: it was no doing of this one.
	Orphaned bool
}

// Room above the limits for our own process 1, on top of what it has when it is ready, and in a child for the interpreter.
const (
	ownMemory     = 24 << 20 // the job, the result and what Go needs to handle them; or an interpreter that did nothing yet
	diskMargin    = 16 << 20 // so that a full disk is found before the memory it lies in is
	ownTasks      = 2        // threads that Go may still want; spareThreads are there already
	workerTasks   = 64       // a worker starts no processes, only threads of Go
	minimalMemory = 1 << 20
)

// Jail is one jailed process tree. Its methods may be called from any goroutine.
type Jail struct {
	sandbox *Sandbox
	conn    net.Conn
	filter  Filter
	disk    int64
	id      hostID
	who     identity
	group   *cgroups.Group // nil where the host has none
	watch   *watch         // instead of the group
	base    cgroups.Stats  // when it was ready

	process *os.Process // process 1, when we are its parent

	launcher     *launcher // its parent otherwise
	number       int64     // of the child, among those of the launcher
	ready        chan struct{}
	reported     string       // why it never was ready, before gone is closed
	network      net.Listener // after ready is closed, nil without one
	handle       int          // pidfd of process 1, after ready is closed and until gone is
	mu           sync.Mutex
	state        childState
	killed       bool
	destroyTimer *time.Timer // ends a launcher that does not bury the child

	ended chan struct{} // process 1 is dead, and with it every other process
	gone  chan struct{} // nothing is left
	exit  Exit          // before gone is closed
	once  sync.Once     // for closing conn
}

// Network listens where a program with a network finds the way out, nil for other programs. It ends with the jail.
func (j *Jail) Network() net.Listener {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.network
}

// Conn carries frames to the role's Serve. Wait closes it.
func (j *Jail) Conn() net.Conn { return j.conn }

// Limit sets what the kernel enforces: memory of the whole tree and number of processes, both on top of what our own
// process 1 takes. It may be called before every run of a pooled worker. Less memory than is in use is an error.
func (j *Jail) Limit(limits runtimes.Limits) error {
	memory := max(limits.MemoryBytes, j.disk+diskMargin, minimalMemory) + j.base.Memory + ownMemory
	tasks := j.base.Pids + limits.Processes
	switch {
	case j.filter.ours():
		tasks = j.base.Pids + workerTasks
	case j.launcher == nil:
		tasks += ownTasks
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.state == childDestroyed: // its group may be another's already
		return errors.New("limit the jail: it is gone")
	case j.group == nil && j.watch == nil: // a child that is not ready yet: there is nothing to look at
		return nil
	case j.group == nil:
		j.watch.limit(memory, tasks)
		return nil
	}
	if err := j.group.Limit(memory, tasks); err != nil {
		return fmt.Errorf("limit the jail: %w", err)
	}
	return nil
}

// markBase remembers what process 1 takes by itself.
func (j *Jail) markBase() {
	if j.group == nil {
		j.base = j.watch.stats()
		return
	}
	j.base = j.group.Stats()
}

// Usage reads the counters. CPU time of a pooled worker counts from its start: take the difference.
func (j *Jail) Usage() Usage {
	now, alive := alive(j, j.usage)
	if alive {
		return now
	}
	<-j.gone
	return j.exit.Usage
}

// CPU reads one counter of Usage.
func (j *Jail) CPU() time.Duration {
	now, alive := alive(j, j.cpu)
	if alive {
		return now
	}
	<-j.gone
	return j.exit.Usage.CPU
}

// alive reads counters unless they are not the jail's any more: they may have been taken away while they were read, and then
// said 0, or count for another child already. What they said last is in exit then.
func alive[T any](j *Jail, read func() T) (now T, ok bool) {
	j.mu.Lock()
	if ok = j.state != childDestroyed; ok {
		now = read()
	}
	j.mu.Unlock()
	select {
	case <-j.ended:
		return now, false
	default:
		return now, ok
	}
}

func (j *Jail) cpu() time.Duration {
	switch {
	case j.group != nil:
		return j.group.CPU()
	case j.watch != nil:
		return j.watch.stats().CPU
	}
	return 0
}

func (j *Jail) usage() Usage {
	var stats cgroups.Stats
	switch {
	case j.group != nil:
		stats = j.group.Used()
	case j.watch != nil:
		stats = j.watch.stats()
	}
	return Usage{CPU: stats.CPU, PeakMemory: stats.Peak, OOMKilled: stats.OOMKills > 0, PidsLimited: stats.PidsHits > 0}
}

// ResetPeak starts a new peak of memory, where the kernel can do that.
func (j *Jail) ResetPeak() {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.state == childDestroyed:
	case j.group == nil:
		j.watch.resetPeak()
	default:
		j.group.ResetPeak()
	}
}

// Kill ends every process of the jail. It is idempotent, returns at once and may be called from anywhere.
func (j *Jail) Kill() {
	select {
	case <-j.ended:
		return
	default:
	}
	if j.launcher != nil {
		j.killChild()
		return
	}
	// Process 1 first: its namespace dies with it, whatever its members do. The handle is a pidfd, it cannot hit another.
	_ = j.process.Signal(syscall.SIGKILL)
	if j.group != nil {
		j.group.Kill()
	}
}

// Done is closed when process 1 ended, and with it every other process.
func (j *Jail) Done() <-chan struct{} { return j.ended }

// Wait blocks until every process is dead and nothing of the jail is left on the host, and closes Conn. Who waits for a
// jail that was killed reads no more of it: a launcher that still writes for its child must not wait for that.
func (j *Jail) Wait() Exit {
	if j.wasKilled() {
		j.once.Do(func() { _ = j.conn.Close() })
	}
	<-j.gone
	j.once.Do(func() { _ = j.conn.Close() })
	return j.exit
}

// attend waits for the end of a jail and cleans up after it, whether anybody asks or not.
func (j *Jail) attend(stderr *os.File) {
	var output ends
	read := make(chan struct{})
	go func() {
		defer close(read)
		output.collect(stderr)
	}()
	state, err := j.process.Wait()
	close(j.ended)
	<-read // every writer is dead
	err = errors.Join(err, stderr.Close())
	j.exit.Usage = j.usage()
	j.exit.Stderr = output.String()
	if status, ok := state.Sys().(syscall.WaitStatus); ok {
		if status.Signaled() {
			j.exit.Signal = int(status.Signal())
		} else {
			j.exit.Code = status.ExitStatus()
		}
	}
	if j.group == nil {
		j.exit.Usage.CPU = max(j.exit.Usage.CPU, state.UserTime()+state.SystemTime())
	}
	j.finish(err)
}

// finish gives everything back, when the last process is dead.
func (j *Jail) finish(err error) {
	if err = errors.Join(err, j.release()); err != nil {
		j.sandbox.log.LogAttrs(context.Background(), slog.LevelError, "clean up a jail", slog.Any("error", err))
	}
	close(j.gone)
}

// release gives back what the jail took from the host.
func (j *Jail) release() error {
	var err error
	if j.watch != nil {
		j.watch.close()
	}
	if j.group != nil {
		if j.launcher != nil {
			err = j.sandbox.groups.Retire(j.group)
		} else { // whoever still kills it must not hit another
			err = j.group.Remove()
		}
	}
	j.sandbox.remove(j)
	j.sandbox.ids.release(j.id)
	return err
}

// begin announces a jail that is about to start, so that Close waits for it and then knows it.
func (s *Sandbox) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("the sandbox is closed")
	}
	s.starting.Add(1)
	return nil
}

func (s *Sandbox) add(j *Jail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jails[j] = struct{}{}
}

func (s *Sandbox) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Sandbox) remove(j *Jail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jails, j)
}
