package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// lastWords begins what V8 prints when it gives up.
const lastWords = "<--- Last few GCs --->"

// words are what a process said: the end of its stderr, and whether it waits for another run.
type words struct {
	stderr []byte
	stays  bool
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

// outOfMemory says whether V8 gave up because its heap was full.
func (w *words) outOfMemory() bool {
	return bytes.Contains(w.stderr, []byte("JavaScript heap out of memory")) || bytes.Contains(w.stderr, []byte("OutOfMemory"))
}

// interpret reads what the guest script said at the end, or why it said nothing.
func (w *words) interpret(result frames.Result) frames.Result {
	if result.Error != nil {
		return result
	}
	var report program.Report
	var end struct {
		Output json.RawMessage        `json:"output"`
		Error  *runtimes.ProgramError `json:"error"`
	}
	told := json.Unmarshal(result.Stats, &report) == nil && report.End != nil && json.Unmarshal(report.End, &end) == nil
	w.stays = report.Stays
	switch {
	case report.Huge:
		result.Error = &runtimes.ProgramError{Type: runtimes.OutputLimit}
	case told && end.Error != nil:
		result.Error = end.Error
	case told:
		result.Output = end.Output
		result.Signal = 0 // it ended after its result, whatever way
	case result.Signal != 0 && w.outOfMemory():
		result.Error = &runtimes.ProgramError{Type: runtimes.MemoryLimit}
	case result.Signal == int(syscall.SIGSEGV):
		result.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "Node crashed (SIGSEGV)."}
	case result.Signal != 0:
		result.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("Node was ended by signal %d.", result.Signal)}
	default:
		code := 0
		if result.ExitCode != nil {
			code = *result.ExitCode
		}
		result.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The program ended with exit code %d before main returned.", code)}
	}
	if result.Error != nil {
		result.Error.Message = strings.TrimSpace(result.Error.Message)
	}
	return result
}
