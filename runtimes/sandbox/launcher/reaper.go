package launcher

import (
	"errors"
	"sync"
	"syscall"
)

// reaper waits for all children of a launcher on one thread.
type reaper struct {
	mu       sync.Mutex
	children map[int]*end
	early    map[int]syscall.WaitStatus // statuses of children that ended before expect was called
	born     chan struct{}              // signals that there is a child to wait for
}

// end describes the end of a child.
type end struct {
	dead   chan struct{} // closed when status is set
	status syscall.WaitStatus
}

func newEnd() *end { return &end{dead: make(chan struct{})} }

func newReaper() *reaper {
	r := &reaper{children: map[int]*end{}, early: map[int]syscall.WaitStatus{}, born: make(chan struct{}, 1)}
	go r.run()
	return r
}

// expect returns the end of a child that was just started. Its channel is closed at once if the child is already dead.
func (r *reaper) expect(pid int) *end {
	e := newEnd()
	r.mu.Lock()
	defer r.mu.Unlock()
	if status, ok := r.early[pid]; ok {
		delete(r.early, pid)
		e.status = status
		close(e.dead)
		return e
	}
	r.children[pid] = e
	select {
	case r.born <- struct{}{}:
	default:
	}
	return e
}

func (r *reaper) run() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD
			<-r.born
		default:
			r.reaped(pid, status)
		}
	}
}

func (r *reaper) reaped(pid int, status syscall.WaitStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.children[pid]
	if e == nil {
		r.early[pid] = status
		return
	}
	delete(r.children, pid)
	e.status = status
	close(e.dead)
}
