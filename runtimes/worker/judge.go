package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Bounds on what a program may say about its own failure.
const (
	maxMessage = 16 << 10
	maxStack   = 64 << 10
	maxRule    = 64
	maxHost    = 300
)

// judge turns the end of a conversation into an outcome. What the kernel counted and what we decided goes before what
// the worker says: the program may have said it.
func (s *session) judge(end ending) runtimes.Outcome {
	var outcome runtimes.Outcome
	var told *runtimes.ProgramError
	if end.result != nil {
		result := *end.result
		if s.task.Interpret != nil {
			result = s.task.Interpret(result)
		}
		outcome.ExitCode = result.ExitCode
		outcome.Output, told = s.read(result)
	} else {
		told = s.died(end)
	}
	outcome.Error = s.verdict(end, told)
	if outcome.Error != nil {
		outcome.Output = nil
	}
	return outcome
}

// verdict chooses between what we know and what we were told.
func (s *session) verdict(end ending, told *runtimes.ProgramError) *runtimes.ProgramError {
	var ours *runtimes.ProgramError
	full := end.result != nil && end.result.DiskFull
	vague := told != nil && (told.Type == runtimes.RuntimeError || told.Type == runtimes.MemoryLimit)
	switch {
	case end.cause == runtimes.Timeout && end.usage.PidsLimited:
		// A shell that may not fork waits and tries again until its time is over: time was not what it lacked.
		ours = reached(runtimes.ProcessLimit, s.limits)
	case end.cause == runtimes.Timeout && s.watch.byCPU():
		ours = cpuReached(s.limits)
	case end.cause != "":
		ours = reached(end.cause, s.limits)
	case vague && end.usage.OOMKilled:
		ours = reached(runtimes.MemoryLimit, s.limits)
	case vague && end.usage.PidsLimited:
		ours = reached(runtimes.ProcessLimit, s.limits)
	case vague && full:
		ours = reached(runtimes.DiskLimit, s.limits)
	case told == nil && s.task.Unaware && end.usage.PidsLimited:
		ours = reached(runtimes.ProcessLimit, s.limits)
	case told != nil:
		return s.complete(told)
	default:
		return nil
	}
	if told != nil {
		ours.File, ours.Line, ours.Column, ours.Stack = told.File, told.Line, told.Column, told.Stack
	}
	return ours
}

// read takes what the worker says as far as it can be true.
func (s *session) read(result frames.Result) (json.RawMessage, *runtimes.ProgramError) {
	switch {
	case result.Error != nil:
		return nil, s.clean(*result.Error)
	case result.Signal != 0:
		return nil, &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The program was killed by signal %d.", result.Signal)}
	case len(result.Output) == 0:
		return json.RawMessage("null"), nil
	case int64(len(result.Output)) > s.limits.OutputBytes:
		return nil, resultTooLarge(s.limits)
	}
	output, err := checkResult(result.Output)
	if err != nil {
		return nil, &runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: cut(err.Error(), maxMessage)}
	}
	return output, nil
}

// clean bounds what a program says about its failure: a type that a program can know, a file of its own, lengths.
func (s *session) clean(e runtimes.ProgramError) *runtimes.ProgramError {
	switch e.Type {
	case runtimes.SyntaxError, runtimes.RuntimeError, runtimes.RecursionLimit, runtimes.InvalidOutput, runtimes.MemoryLimit,
		runtimes.OutputLimit, runtimes.ProcessLimit, runtimes.DiskLimit, runtimes.Denied:
	default: // also what only we can say: timeout, cancelled, interrupted
		e.Type = runtimes.RuntimeError
	}
	if _, ours := s.task.Job.Files[e.File]; !ours || e.Line < 0 || e.Column < 0 {
		e.File, e.Line, e.Column = "", 0, 0
	}
	e.Message, e.Stack, e.Remedy = cut(e.Message, maxMessage), cut(e.Stack, maxStack), cut(e.Remedy, maxMessage)
	if e.Rule = cut(e.Rule, maxRule); e.Type != runtimes.Denied {
		e.Rule, e.Grant = "", nil
	}
	if e.Grant != nil && (len(e.Grant.Hosts) != 1 || len(e.Grant.Hosts[0]) > maxHost) {
		e.Grant = nil
	}
	return &e
}

// complete gives a limit that a worker reported by its name alone our sentences, and any error a message.
func (s *session) complete(e *runtimes.ProgramError) *runtimes.ProgramError {
	ours := reached(e.Type, s.limits)
	if e.Type == runtimes.OutputLimit {
		ours = resultTooLarge(s.limits)
	}
	if e.Message == "" {
		e.Message = ours.Message
	}
	if e.Remedy == "" {
		e.Remedy = ours.Remedy
	}
	if e.Message == "" {
		e.Message = "The program failed."
	}
	return e
}

// died explains a worker that ended without a result.
func (s *session) died(end ending) *runtimes.ProgramError {
	if end.cause != "" {
		return nil // we killed it, and know why
	}
	if errors.Is(end.breach, frames.ErrTooLarge) {
		return resultTooLarge(s.limits)
	}
	if end.broke() {
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The worker ended unexpectedly: it broke its protocol."}
	}
	if s.task.Death != nil {
		if e := s.task.Death(*end.exit); e != nil {
			return s.clean(*e)
		}
	}
	return unexpected(*end.exit)
}

// unexpected reads the last words of a Go process.
func unexpected(exit sandbox.Exit) *runtimes.ProgramError {
	switch {
	case strings.Contains(exit.Stderr, "stack overflow") || strings.Contains(exit.Stderr, "stack exceeds"):
		return &runtimes.ProgramError{Type: runtimes.RecursionLimit, Message: "The program is nested too deeply for the interpreter.", Remedy: "Reduce the nesting of calls, data or brackets."}
	case strings.Contains(exit.Stderr, "out of memory"):
		return &runtimes.ProgramError{Type: runtimes.MemoryLimit}
	}
	return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The worker ended unexpectedly."}
}

// cut shortens text to at most n bytes of valid UTF-8.
func cut(text string, n int) string {
	if len(text) > n {
		return strings.ToValidUTF8(text[:n-len("…")], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// encode is for our own types, which always marshal.
func encode(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}
