package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// cellState is how far the life of a cell has come, as its starter told us.
type cellState int

const (
	cellAsked  cellState = iota
	cellReady            // process 1 has set everything up
	cellBuried           // nothing of it is left with the starter
)

// begun takes the handles on a cell that is ready: that on its process 1, and what listens in its network.
func (j *Jail) begun(handles []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != cellAsked {
		closeAll(handles)
		return
	}
	j.state, j.handle = cellReady, handles[0]
	if len(handles) > 1 {
		file := os.NewFile(uintptr(handles[1]), "network")
		defer file.Close()
		if listener, err := net.FileListener(file); err == nil { // otherwise the program is alone in there
			j.network = listener
		}
	}
	close(j.ready)
}

// open begins to look after a cell that is ready, where no control group does.
func (j *Jail) open() error {
	if j.group != nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != cellReady {
		return nil // it is gone already
	}
	pid, err := hostPID(j.handle)
	if err != nil {
		return fmt.Errorf("find the process of a jail: %w", err)
	}
	j.watch = newWatch(pid, j.Kill)
	return nil
}

// killCell ends process 1 of a cell, and with it every process of its namespace. The kernel does that, whatever state the
// starter is in; but only the starter can bury it, and one that does not is ended itself.
func (j *Jail) killCell() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != cellReady || j.killed {
		return
	}
	j.killed = true
	_ = unix.PidfdSendSignal(j.handle, unix.SIGKILL, nil, 0)
	j.burial = time.AfterFunc(buryTime, j.unburied)
}

// unburied ends a starter that left a dead cell lying: it is broken, and whoever waits for the cell would wait for ever.
func (j *Jail) unburied() {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.state != cellReady:
	case !exited(j.handle): // the kernel is not done with it, and would not be any sooner with the others
		j.burial.Reset(buryTime)
	default:
		j.starter.jail.Kill()
	}
}

// exited says whether the process behind a handle is dead.
func exited(pidfd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}

// wasKilled says whether somebody ended the cell.
func (j *Jail) wasKilled() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.killed
}

// lose takes what the starter says of the end of a cell: every process of it is dead.
func (j *Jail) lose(n notice) {
	j.mu.Lock()
	before := j.state
	j.state = cellBuried
	if j.burial != nil {
		j.burial.Stop()
	}
	j.mu.Unlock()
	if before == cellBuried {
		return
	}
	if before == cellReady {
		_ = unix.Close(j.handle)
	}
	if j.network != nil { // what waits there in vain ends with it
		_ = j.network.Close()
	}
	j.said = n.Error
	close(j.ended)
	j.exit = Exit{Signal: n.Signal, Code: n.Code, Usage: j.usage(), Stderr: n.Error, Orphaned: n.orphaned}
	j.starter.forget(j, n.Signal)
	go j.finish(nil) // it may have to wait for its group, and the starter says more
}
