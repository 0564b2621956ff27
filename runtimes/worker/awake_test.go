package worker

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestStayAwake checks that the reader reads like the connection, whether it polls or sleeps when data, the end or an
// error comes.
func TestStayAwake(t *testing.T) {
	t.Parallel()
	for _, runs := range []int64{enough - 1, enough} {
		for _, span := range []time.Duration{time.Nanosecond, time.Minute} {
			t.Run(span.String()+" of "+strconv.FormatInt(runs, 10), func(t *testing.T) {
				t.Parallel()
				ours, theirs := connected(t)
				var runsHere concurrentRuns
				runsHere.alone.Store(runs)
				in := stayAwake(ours, span, &runsHere)
				if _, ok := in.(*awake); !ok {
					t.Fatalf("a %T", in)
				}
				for _, text := range []string{"one", "two"} {
					go func() { _, _ = theirs.Write([]byte(text)) }()
					got := make([]byte, 3)
					if _, err := io.ReadFull(in, got); err != nil || string(got) != text {
						t.Errorf("%q, %v for %q", got, err, text)
					}
				}
				_ = ours.SetReadDeadline(time.Now())
				if _, err := in.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("after the deadline: %v", err)
				}
				_ = ours.SetReadDeadline(time.Time{})
				go func() { _ = theirs.Close() }()
				if got, err := in.Read(make([]byte, 1)); got != 0 || err != io.EOF {
					t.Errorf("at the end: %d, %v", got, err)
				}
				if err := ours.Close(); err != nil {
					t.Fatal(err)
				}
				if _, err := in.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
					t.Errorf("when it is closed: %v", err)
				}
			})
		}
	}
}

// TestStayAwakeIsForTheKernels checks that a connection without a descriptor, or without a span, is returned unchanged.
func TestStayAwakeIsForTheKernels(t *testing.T) {
	t.Parallel()
	piped, other := net.Pipe()
	ours, _ := connected(t)
	t.Cleanup(func() { _, _ = piped.Close(), other.Close() })
	if in := stayAwake(piped, time.Minute, new(concurrentRuns)); in != piped {
		t.Errorf("a pipe is read by a %T", in)
	}
	if in := stayAwake(ours, 0, new(concurrentRuns)); in != ours {
		t.Errorf("without a span it is read by a %T", in)
	}
}

// TestConcurrentRuns checks that runs are lonely after some came one after the other, until two are active at once.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	var c concurrentRuns
	one := func() { c.come(); c.leave() }
	for range enough - 1 {
		one()
	}
	if c.lonely() {
		t.Error("lonely too soon")
	}
	one()
	if !c.lonely() {
		t.Error("not lonely after one at a time")
	}
	c.come()
	c.come()
	if c.lonely() {
		t.Error("two are lonely")
	}
	c.leave()
	c.leave()
	for range enough {
		if c.lonely() {
			t.Error("lonely right after two")
		}
		one()
	}
	if !c.lonely() {
		t.Error("never lonely again")
	}
}

// connected returns the two ends of a socket.
func connected(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ours, err = listener.Accept()
	if err := errors.Join(err, listener.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return ours, theirs
}
