package node

import (
	"bytes"
	"fmt"
	"syscall"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// lastGCs is the start of V8's output when it aborts because its heap is full.
const lastGCs = "<--- Last few GCs --->"

// words collects the end of a process's stderr, and the compiled program that the process sent.
type words struct {
	stderr []byte
	kept   []byte
}

func (w *words) listen(kind frames.Kind, p []byte) {
	const keep = 16 << 10
	if kind != frames.Stderr {
		return
	}
	w.stderr = append(w.stderr, p...)
	if over := len(w.stderr) - keep; over > keep {
		w.stderr = append(w.stderr[:0], w.stderr[over:]...)
	}
}

// outOfMemory reports whether V8 aborted because its heap was full.
func (w *words) outOfMemory() bool {
	return bytes.Contains(w.stderr, []byte("JavaScript heap out of memory")) || bytes.Contains(w.stderr, []byte("OutOfMemory"))
}

// interpret reads the last message of the guest script. If there is none, it determines the reason from the end of the
// process.
func (w *words) interpret(result frames.Result) frames.Result {
	result, report := program.Conclude(result, w.crash)
	w.kept = report.Kept
	return result
}

// crash returns the error for a Node process that was ended by a signal.
func (w *words) crash(signal int) *runtimes.ProgramError {
	switch {
	case w.outOfMemory():
		return &runtimes.ProgramError{Type: runtimes.MemoryLimit}
	case signal == int(syscall.SIGSEGV):
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Node crashed (SIGSEGV)."}
	default:
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("Node was killed by signal %d.", signal)}
	}
}
