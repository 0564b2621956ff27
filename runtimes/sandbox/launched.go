package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// childState is how far the life of a child has come, as its launcher told us.
type childState int

const (
	childAsked     childState = iota
	childIsReady              // process 1 has set everything up
	childDestroyed            // nothing of it is left with the launcher
)

// childReady takes the handles on a child that is ready: that on its process 1, and what listens in its network.
func (j *Jail) childReady(handles []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != childAsked {
		closeAll(handles)
		return
	}
	j.state, j.handle = childIsReady, handles[0]
	if len(handles) > 1 {
		file := os.NewFile(uintptr(handles[1]), "network")
		defer file.Close()
		if listener, err := net.FileListener(file); err == nil { // otherwise the program is alone in there
			j.network = listener
		}
	}
	close(j.ready)
}

// open begins to look after a child that is ready, where no control group does.
func (j *Jail) open() error {
	if j.group != nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != childIsReady {
		return nil // it is gone already
	}
	pid, err := hostPID(j.handle)
	if err != nil {
		return fmt.Errorf("find the process of a jail: %w", err)
	}
	j.watch = newWatch(pid, j.Kill)
	return nil
}

// killChild ends process 1 of a child, and with it every process of its namespace. The kernel does that, whatever state the
// launcher is in; but only the launcher can bury it, and one that does not is ended itself.
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

// notDestroyed ends a launcher that left a dead child lying: it is broken, and whoever waits for the child would wait for ever.
func (j *Jail) notDestroyed() {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.state != childIsReady:
	case !exited(j.handle): // the kernel is not done with it, and would not be any sooner with the others
		j.destroyTimer.Reset(destroyTimeout)
	default:
		j.launcher.jail.Kill()
	}
}

// exited says whether the process behind a handle is dead.
func exited(pidfd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// wasKilled says whether somebody ended the child.
func (j *Jail) wasKilled() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.killed
}

// childEnded takes what the launcher says of the end of a child: every process of it is dead.
func (j *Jail) childEnded(n notice) {
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
	if j.network != nil { // what waits there in vain ends with it
		_ = j.network.Close()
	}
	j.reported = n.Error
	close(j.ended)
	j.exit = Exit{Signal: n.Signal, Code: n.Code, Usage: j.usage(), Stderr: n.Error, Orphaned: n.orphaned}
	j.launcher.forget(j, n.Signal)
	go j.finish(nil) // it may have to wait for its group, and the launcher says more
}
