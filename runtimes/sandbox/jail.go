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

// Usage holds the resources that a jail has used so far, as counted by the kernel. It includes process 1.
type Usage struct {
	CPU         time.Duration
	PeakMemory  int64 // peak memory in bytes; since ResetPeak if the kernel supports that
	OOMKilled   bool  // true once the memory limit caused a kill
	Starved     bool  // true once the kernel killed a process because memory outside of the jail ran out
	PidsLimited bool  // true once the process limit caused a fork to fail
}

// Exit describes the end of a jail.
type Exit struct {
	Signal int   // signal that ended process 1, 0 for none
	Code   int   // exit code of process 1
	Usage  Usage // final usage
	// Stderr is the head and tail of process 1's own stderr, such as "fatal error: stack overflow". After a job it
	// may contain text chosen by a program, including secrets of the program. So logs and users get Summary instead.
	Stderr string
	// Orphaned reports that this child died because its launcher ended. The child's program did not cause its end.
	Orphaned bool
}

// Reserves for process 1. Limit adds them, and the usage of process 1 when it is ready, to the limits of a program. In
// a child, process 1 is the interpreter.
const (
	ownMemory     = 24 << 20 // memory for the job, the result and Go's work on them; or for an idle interpreter
	diskMargin    = 16 << 20 // memory, so that a full disk is noticed before the memory is full
	ownTasks      = 2        // tasks for threads that Go may still create, in addition to spareThreads
	workerTasks   = 64       // tasks for Go threads; a worker starts no processes
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
	group   *cgroups.Group // nil if the host has no control groups
	watch   *watch         // used if there is no control group
	base    cgroups.Stats  // usage when the jail became ready

	process *os.Process // process 1, if the server is its parent

	launcher     *launcher // parent of process 1 if the server is not its parent; nil otherwise
	number       int64     // ID of the child in the messages of its launcher
	ready        chan struct{}
	reported     string       // error that prevented the child from becoming ready; set before gone is closed
	network      net.Listener // set when ready is closed; nil if there is none
	handle       int          // pidfd of process 1, from the close of ready to the close of gone
	mu           sync.Mutex
	state        childState
	killed       bool
	destroyTimer *time.Timer // ends a launcher that does not destroy the child

	ended chan struct{} // closed when every process of the jail is dead
	gone  chan struct{} // closed when the jail's resources are released too
	exit  Exit          // set before gone is closed
	once  sync.Once     // closes conn only once
}

// Network returns the listener for the outgoing connections of a program with a network, and nil for other programs.
// The listener closes with the jail.
func (j *Jail) Network() net.Listener {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.network
}

// Conn carries frames to the role's Serve. Wait closes it.
func (j *Jail) Conn() net.Conn { return j.conn }

// Limit sets the limits that the kernel enforces: the memory of the whole process tree and the number of processes. The
// usage of process 1 is added to both limits. Limit may be called before every run of a pooled worker. It fails if more
// memory is in use than the limit allows.
func (j *Jail) Limit(limits runtimes.Limits) error {
	memory := max(limits.MemoryBytes, j.disk+diskMargin, minimalMemory) + j.base.Memory + ownMemory
	tasks := j.base.Pids + limits.Processes
	switch {
	case j.filter.Ours():
		tasks = j.base.Pids + workerTasks
	case j.launcher == nil:
		tasks += ownTasks
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.state == childDestroyed: // not if the jail is destroyed, because another jail may already use its group
		return errors.New("limit the jail: it is gone")
	case j.group == nil && j.watch == nil: // a child that is not ready yet has nothing to measure
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

// markBase records the usage of process 1 alone.
func (j *Jail) markBase() {
	if j.group == nil {
		j.base = j.watch.stats()
		return
	}
	j.base = j.group.Stats()
}

// Usage reads the counters. The CPU time of a pooled worker counts from its start, so callers compute the difference.
func (j *Jail) Usage() Usage {
	now, alive := alive(j, j.usage)
	if alive {
		return now
	}
	<-j.gone
	return j.exit.Usage
}

// CPU returns the field CPU of Usage. It takes less time than Usage, because it reads no other counter.
func (j *Jail) CPU() time.Duration {
	now, alive := alive(j, j.cpu)
	if alive {
		return now
	}
	<-j.gone
	return j.exit.Usage.CPU
}

// alive calls read and reports whether the counters still belong to the jail. If the jail is gone, its counters may be
// removed and read as 0, or may already count another child. In that case the last valid values are in exit.
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
	return Usage{CPU: stats.CPU, PeakMemory: stats.Peak, OOMKilled: stats.OOMKills > 0 && stats.LimitHits > 0, Starved: stats.OOMKills > 0 && stats.LimitHits == 0, PidsLimited: stats.PidsHits > 0}
}

// ResetPeak starts a new memory peak if the kernel supports that.
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

// Kill kills every process of the jail. It is idempotent, returns at once and may be called from any goroutine.
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
	// Kill process 1 first: the kernel then kills every process of its PID namespace. The handle is a pidfd, so the
	// signal cannot reach another process with a reused ID.
	_ = j.process.Signal(syscall.SIGKILL)
	if j.group != nil {
		j.group.Kill()
	}
}

// Done returns a channel that is closed when every process of the jail has ended.
func (j *Jail) Done() <-chan struct{} { return j.ended }

// Wait blocks until every process is dead and the jail's resources on the host are released. Then it closes Conn. If
// the jail is a killed child of a launcher, Wait closes Conn first. Otherwise the launcher would block if it still
// wrote for the child, because callers no longer read.
func (j *Jail) Wait() Exit {
	if j.wasKilled() {
		j.once.Do(func() { _ = j.conn.Close() })
	}
	<-j.gone
	j.once.Do(func() { _ = j.conn.Close() })
	return j.exit
}

// attend waits for the end of a jail and then releases its resources. It does so even if no caller waits.
func (j *Jail) attend(stderr *os.File) {
	var output ends
	read := make(chan struct{})
	go func() {
		defer close(read)
		output.collect(stderr)
	}()
	state, err := j.process.Wait()
	close(j.ended)
	<-read // this read ends, because every process that could write is dead
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

// finish releases all resources after the last process is dead.
func (j *Jail) finish(err error) {
	if err = errors.Join(err, j.release()); err != nil {
		j.sandbox.log.LogAttrs(context.Background(), slog.LevelError, "clean up a jail", slog.Any("error", err))
	}
	close(j.gone)
}

// release returns the jail's resources to the host.
func (j *Jail) release() error {
	var err error
	if j.watch != nil {
		j.watch.close()
	}
	if j.group != nil {
		if j.launcher != nil {
			err = j.sandbox.groups.Retire(j.group)
		} else { // under the lock, because a concurrent Kill must not hit another process
			err = j.group.Remove()
		}
	}
	j.sandbox.remove(j)
	j.sandbox.ids.release(j.id)
	return err
}

// begin announces a jail that is about to start. Close waits until its start has ended, and then kills it.
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
