package sandbox

import (
	"fmt"
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

// begun takes the handle on the process 1 of a cell that is ready.
func (j *Jail) begun(handle int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != cellAsked {
		_ = unix.Close(handle)
		return
	}
	j.state, j.handle = cellReady, handle
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
	if j.group != nil {
		j.group.Kill()
	}
	j.burial = time.AfterFunc(buryTime, j.starter.jail.Kill)
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
	j.said = n.Error
	close(j.ended)
	j.exit = Exit{Signal: n.Signal, Code: n.Code, Usage: j.usage(), Stderr: n.Error}
	j.starter.forget(j, n.Signal)
	go j.finish(nil) // it may have to wait for its group, and the starter says more
}
