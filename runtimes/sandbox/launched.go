package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
	"golang.org/x/sys/unix"
)

// childState is the progress of a child, as reported by its launcher.
type childState int

const (
	childAsked     childState = iota
	childIsReady              // process 1 has set everything up
	childDestroyed            // the launcher has released all resources of the child
)

// childReady stores the handles on a ready child: the pidfd of its process 1, and the listener in its network.
func (j *Jail) childReady(handles []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != childAsked {
		wire.CloseAll(handles)
		return
	}
	j.state, j.handle = childIsReady, handles[0]
	if len(handles) > 1 {
		file := os.NewFile(uintptr(handles[1]), "network")
		defer file.Close()
		// A missing listener only means that the program has no network.
		if listener, err := net.FileListener(file); err == nil {
			j.network = listener
		}
	}
	close(j.ready)
}

// open starts the watch of a ready child if no control group counts it.
func (j *Jail) open() error {
	if j.group != nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != childIsReady {
		return nil // the child is gone already
	}
	pid, err := hostPID(j.handle)
	if err != nil {
		return fmt.Errorf("find the process of a jail: %w", err)
	}
	j.watch = newWatch(pid, true, j.Kill)
	return nil
}

// killChild kills process 1 of a child. The kernel then kills every process of the child's PID namespace. This works
// even if the launcher hangs. Only the launcher can release the resources of the child. If it does not, notDestroyed
// ends the launcher.
func (j *Jail) killChild() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != childIsReady || j.killed {
		return
	}
	j.killed = true
	_ = unix.PidfdSendSignal(j.handle, unix.SIGKILL, nil, 0)
	j.destroyTimer = time.AfterFunc(destroyTimeout, j.notDestroyed)
}

// notDestroyed ends a launcher that has not destroyed a dead child in time. Such a launcher has a fault, and would
// never report the end of the child.
func (j *Jail) notDestroyed() {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.state != childIsReady:
	case !exited(j.handle): // the kernel has not finished ending the child; killing the launcher would not speed that up
		j.destroyTimer.Reset(destroyTimeout)
	default:
		j.launcher.jail.Kill()
	}
}

// exited reports whether the process of a pidfd is dead.
func exited(pidfd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// wasKilled reports whether Kill was called for the child.
func (j *Jail) wasKilled() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.killed
}

// childEnded handles the launcher's notice that a child has ended. At that time every process of the child is dead.
func (j *Jail) childEnded(n wire.Notice) {
	j.mu.Lock()
	before := j.state
	j.state = childDestroyed
	if j.destroyTimer != nil {
		j.destroyTimer.Stop()
	}
	j.mu.Unlock()
	if before == childDestroyed {
		return
	}
	if before == childIsReady {
		_ = unix.Close(j.handle)
	}
	if j.network != nil { // closing the listener also closes connections that are not accepted yet
		_ = j.network.Close()
	}
	j.reported = n.Error
	close(j.ended)
	j.exit = Exit{Signal: n.Signal, Code: n.Code, Usage: j.usage(), Stderr: n.Error, Orphaned: n.Orphaned}
	j.launcher.forget(j, n.Signal)
	go j.finish(nil) // finish may wait for the group while the launcher sends more notices
}
