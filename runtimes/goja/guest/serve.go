package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/internal/lru"
	"github.com/atelier-run/atelier/runtimes/frames"
)

const (
	maxReply     = 20 << 20
	maxInterrupt = 4 << 10

	// maxStack is the maximum stack size in bytes. A program that passes the pre-checks and limits needs far less. If a
	// program exceeds it, the worker crashes at once with a message that the server recognizes, before its memory is used
	// up.
	maxStack = 64 << 20

	// gcPercent is high, because it saves time at the cost of memory: a VM becomes garbage after a few hundred
	// microseconds.
	gcPercent = 400
)

// Serve runs jobs from conn, one at a time, until conn ends. It needs a process of its own, because it tunes the Go
// runtime of the process to the job's limits.
func Serve(conn net.Conn) error {
	debug.SetMaxStack(maxStack)
	debug.SetGCPercent(gcPercent)
	// Use one processor. A program has one thread, and the other goroutines only read frames or start timers. Running them
	// on the same thread costs less than waking a second thread twice per run.
	runtime.GOMAXPROCS(1)
	return serve(conn)
}

// worker is the state that remains between runs, such as compiled programs and an unused VM.
type worker struct {
	out      *frames.Writer
	programs *lru.Cache[string, *program]
	spare    *goja.Runtime
	fresh    int64                    // memory in use before the first run
	base     int64                    // memory in use before the current run
	kept     int64                    // bytes that may stay in use between runs
	scripts  map[string]*goja.Program // scripts of this package that a program has needed so far

	loadTime  time.Duration // limits for programs that are loaded in advance: time and allocated bytes
	loadBytes int64
	candidate *candidate              // the next program to load in advance
	prepared  []*run                  // runs without a job whose programs are loaded, the oldest first
	preparing atomic.Pointer[signals] // signals of the run that is being prepared, nil if there is none
	arrived   atomic.Int64            // jobs that the server sent
	received  int64                   // number of arrived jobs that the worker has read
}

// order is a job with the signals of its run.
type order struct {
	job     Job
	signals *signals
}

func newWorker(out io.Writer) *worker {
	w := &worker{out: frames.NewWriter(out), programs: lru.New[string, *program](maxPrograms, maxProgramBytes), spare: newVM(), scripts: map[string]*goja.Program{}, loadTime: maxLoadTime, loadBytes: maxLoadBytes, kept: keptMemory}
	w.fresh = taken()
	w.base = w.fresh
	return w
}

func serve(conn net.Conn) error { return newWorker(conn).serve(conn) }

func (w *worker) serve(conn net.Conn) error {
	jobs := make(chan order)
	failed := make(chan error, 1)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		defer close(jobs)
		failed <- listen(conn, w, jobs, ended)
	}()
	for {
		next, ok := w.next(jobs)
		if !ok {
			break
		}
		if err := w.carryOut(next); err != nil {
			_ = conn.Close() // closing the connection ends the goroutine that listens
			return errors.Join(err, <-failed)
		}
	}
	if err := <-failed; !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return nil
}

// listen dispatches the messages of the server. Jobs go to the worker; replies and interrupts go to the latest job. An
// interrupt that arrives after the end of its job has no effect.
func listen(conn net.Conn, w *worker, jobs chan<- order, ended <-chan struct{}) error {
	in := frames.NewReader(bufio.NewReader(conn), map[frames.Kind]int{frames.Job: frames.MaxFrame, frames.Reply: maxReply, frames.Interrupt: maxInterrupt})
	var current *signals
	for {
		kind, payload, err := in.Read()
		if err != nil {
			w.announce() // the connection has closed without a job, so stop the preparation of a run and let the worker end
			if current != nil {
				current.hangUp()
			}
			return err
		}
		switch kind {
		case frames.Job:
			w.announce()
			next := order{signals: newSignals()}
			if err := json.Unmarshal(payload, &next.job); err != nil {
				return fmt.Errorf("job: %w", err)
			}
			current = next.signals
			select {
			case jobs <- next:
			case <-ended:
				return net.ErrClosed
			}
		case frames.Reply:
			var answer frames.Answer
			if err := json.Unmarshal(payload, &answer); err != nil {
				return fmt.Errorf("reply: %w", err)
			}
			if current != nil {
				current.reply(answer)
			}
		case frames.Interrupt:
			var reason frames.Reason
			if err := json.Unmarshal(payload, &reason); err != nil {
				return fmt.Errorf("interrupt: %w", err)
			}
			if current != nil {
				current.interrupt(reason.Type, "")
			}
		}
	}
}

// carryOut executes one job and reports its end. The Started frame is sent together with the first output, or after a delay
// if there is none. Sent alone, it would wake the server in the middle of each short run.
func (w *worker) carryOut(o order) error {
	began := time.Now()
	key := o.job.key()
	program, _ := w.programs.Get(key)
	if program == nil && len(o.job.Files) == 0 {
		return w.out.Write(frames.Need, nil) // the server now sends the job again with all files
	}
	w.out.Hold(frames.Started, func() []byte { return strconv.AppendInt(nil, time.Since(began).Microseconds(), 10) })
	if program == nil { // report the start first, because compilation can be slow and can crash the worker
		if err := w.out.Flush(); err != nil {
			return err
		}
		program = compile(o.job)
		w.programs.Put(key, program, program.size)
	}
	r := w.run(program, o)
	r.began = began
	result := r.carryOut()
	bound(result.Error)
	r.output.Close()
	if err := w.out.WriteJSON(frames.Done, result); err != nil {
		return err
	}
	// This work is done after the result is sent, so that no caller waits for it.
	w.suggest(r)
	w.refill()
	return nil
}

// refill makes the worker ready for the next job.
func (w *worker) refill() {
	if w.spare == nil {
		w.spare = newVM()
	}
	w.settle()
}

// vm returns an unused VM.
func (w *worker) vm() *goja.Runtime {
	vm := w.spare
	w.spare = nil
	if vm == nil {
		vm = newVM()
	}
	return vm
}
