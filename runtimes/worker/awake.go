package worker

import (
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// concurrentRuns counts runs that are active at the same time.
type concurrentRuns struct {
	runs  atomic.Int64
	alone atomic.Int64 // consecutive runs that started while no other run was active
}

// enough is the number of consecutive runs without another active run, after which no concurrent run is expected.
const enough = 8

func (c *concurrentRuns) come() {
	if c.runs.Add(1) == 1 {
		c.alone.Add(1)
	} else {
		c.alone.Store(0)
	}
}

func (c *concurrentRuns) leave() { c.runs.Add(-1) }

// lonely reports whether runs come one after the other. Concurrent runs could use the processor instead.
func (c *concurrentRuns) lonely() bool { return c.alone.Load() >= enough }

// awake reads from a connection. While runs are lonely and no data has come, it polls for a while before it sleeps.
// Waking a processor of a virtual machine takes longer than a short program runs.
type awake struct {
	raw            syscall.RawConn
	span           time.Duration
	concurrentRuns *concurrentRuns
}

// stayAwake returns a reader of a connection that polls for span before it sleeps. It returns conn itself if span is 0
// or conn is no kernel connection.
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
	var asleep time.Time // end of the polling, zero before the first read
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
