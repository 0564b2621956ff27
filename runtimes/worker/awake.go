package worker

import (
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// concurrentRuns counts runs that are there at once.
type concurrentRuns struct {
	runs  atomic.Int64
	alone atomic.Int64 // runs that came while there was no other, since the last one that did not
}

// enough is after how many runs that came alone nobody else is to be expected.
const enough = 8

func (c *concurrentRuns) come() {
	if c.runs.Add(1) == 1 {
		c.alone.Add(1)
	} else {
		c.alone.Store(0)
	}
}

func (c *concurrentRuns) leave() { c.runs.Add(-1) }

// lonely says whether one run after the other comes. Others have use for a processor.
func (c *concurrentRuns) lonely() bool { return c.alone.Load() >= enough }

// awake reads from a connection and, while runs are lonely, does not sleep at once when nothing has come: for a while it looks
// again and again. To be woken takes a processor of a virtual machine longer than a short program takes to run.
type awake struct {
	raw            syscall.RawConn
	span           time.Duration
	concurrentRuns *concurrentRuns
}

// stayAwake makes a reader of a connection that stays awake for a span, if that is any and the connection is one of the kernel's.
func stayAwake(conn net.Conn, span time.Duration, concurrentRuns *concurrentRuns) io.Reader {
	if kernels, ok := conn.(syscall.Conn); ok && span > 0 {
		if raw, err := kernels.SyscallConn(); err == nil {
			return &awake{raw: raw, span: span, concurrentRuns: concurrentRuns}
		}
	}
	return conn
}

// Read implements io.Reader.
func (a *awake) Read(p []byte) (int, error) {
	var n int
	var failed error
	var asleep time.Time // from then on, zero before the first look
	err := a.raw.Read(func(fd uintptr) bool {
		for {
			n, failed = unix.Read(int(fd), p)
			switch {
			case failed == unix.EINTR:
			case failed != unix.EAGAIN:
				return true
			case !a.concurrentRuns.lonely():
				return false
			case asleep.IsZero():
				asleep = time.Now().Add(a.span)
			case time.Now().After(asleep):
				return false
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, failed
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}
