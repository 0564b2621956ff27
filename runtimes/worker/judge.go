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

// Maximum lengths, in bytes, of the fields in an error that a program reports about itself.
const (
	maxMessage = 16 << 10
	maxStack   = 64 << 10
	maxRule    = 64
	maxField   = 300
	maxHost    = 300
)

// judge returns the outcome of a session that has ended. If the worker's report contradicts the kernel's counters or
// the server's own decisions, these take precedence, because the program may have forged the report.
func (s *session) judge(end ending) runtimes.Outcome {
	var outcome runtimes.Outcome
	var reported *runtimes.ProgramError
	if end.result != nil {
		result := *end.result
		if s.task.Interpret != nil {
			result = s.task.Interpret(result)
		}
		outcome.ExitCode = result.ExitCode
		outcome.Output, reported = s.read(result)
	} else {
		reported = s.died(end)
	}
	outcome.Error = s.verdict(end, reported)
	if outcome.Error != nil {
		outcome.Output = nil
	}
	return outcome
}

// verdict returns the error of the run, or nil if the run succeeded. The error is the reason that the server found; if
// there is none, it is the error that the worker reported.
func (s *session) verdict(end ending, reported *runtimes.ProgramError) *runtimes.ProgramError {
	var ours *runtimes.ProgramError
	full := end.result != nil && end.result.DiskFull
	vague := reported != nil && (reported.Type == runtimes.RuntimeError || reported.Type == runtimes.MemoryLimit)
	switch {
	case end.cause == runtimes.Timeout && end.usage.PidsLimited:
		// A shell that cannot fork retries until its timeout, so the process limit is the real cause.
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
	case reported == nil && s.task.Unaware && end.usage.PidsLimited:
		ours = reached(runtimes.ProcessLimit, s.limits)
	case reported != nil:
		return s.complete(reported)
	default:
		return nil
	}
	if reported != nil {
		ours.File, ours.Line, ours.Column, ours.Stack = reported.File, reported.Line, reported.Column, reported.Stack
	}
	return ours
}

// read returns the output or the error in the worker's result. It checks both, because the program may have forged
// them.
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

// clean sanitizes an error that a program reported. It allows only types that a program may set, and only names of the
// program's own files. It truncates texts.
func (s *session) clean(e runtimes.ProgramError) *runtimes.ProgramError {
	return clean(e, s.task.Job.Files)
}

func clean(e runtimes.ProgramError, files map[string][]byte) *runtimes.ProgramError {
	switch e.Type {
	case runtimes.SyntaxError, runtimes.RuntimeError, runtimes.RecursionLimit, runtimes.InvalidInput, runtimes.InvalidOutput, runtimes.MemoryLimit,
		runtimes.OutputLimit, runtimes.ProcessLimit, runtimes.DiskLimit, runtimes.Denied:
	default: // any other type, such as timeout, cancelled or interrupted, which only the server may set
		e.Type = runtimes.RuntimeError
	}
	if _, ours := files[e.File]; !ours || e.Line < 0 || e.Column < 0 {
		e.File, e.Line, e.Column = "", 0, 0
	}
	e.Errors = fieldErrors(e)
	e.Message, e.Stack, e.Remedy = cut(e.Message, maxMessage), cut(e.Stack, maxStack), cut(e.Remedy, maxMessage)
	if e.Rule = cut(e.Rule, maxRule); e.Type != runtimes.Denied {
		e.Rule, e.Grant = "", nil
	}
	if e.Grant != nil && (len(e.Grant.Hosts) != 1 || len(e.Grant.Hosts[0]) > maxHost) {
		e.Grant = nil
	}
	return &e
}

// fieldErrors returns the fields of an error. It limits their number and their lengths. Only errors about an invalid
// input or output have fields.
func fieldErrors(e runtimes.ProgramError) []runtimes.FieldError {
	if e.Type != runtimes.InvalidInput && e.Type != runtimes.InvalidOutput {
		return nil
	}
	var kept []runtimes.FieldError
	for _, one := range e.Errors[:min(len(e.Errors), runtimes.MaxFieldErrors)] {
		kept = append(kept, runtimes.FieldError{Pointer: cut(one.Pointer, maxField), Message: cut(one.Message, maxField)})
	}
	return kept
}

// complete adds a message and a remedy to the error of a limit, because a worker reports such an error without text. To
// any other error without a message it adds a message.
func (s *session) complete(e *runtimes.ProgramError) *runtimes.ProgramError {
	return complete(e, s.limits)
}

func complete(e *runtimes.ProgramError, limits runtimes.Limits) *runtimes.ProgramError {
	ours := reached(e.Type, limits)
	if e.Type == runtimes.OutputLimit {
		ours = resultTooLarge(limits)
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

// died returns the error for a worker that ended without a result.
func (s *session) died(end ending) *runtimes.ProgramError {
	if end.cause != "" {
		return nil // the server killed the worker, so it already has the reason
	}
	if errors.Is(end.breach, frames.ErrTooLarge) {
		return resultTooLarge(s.limits)
	}
	if end.broke() {
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The worker was stopped, because it sent a message that its protocol does not allow."}
	}
	if s.task.Death != nil {
		if e := s.task.Death(*end.exit); e != nil {
			return s.clean(*e)
		}
	}
	return unexpected(*end.exit)
}

// unexpected returns the error for a Go process that crashed. It determines the cause from the end of stderr.
func unexpected(exit sandbox.Exit) *runtimes.ProgramError {
	switch {
	case strings.Contains(exit.Stderr, "stack overflow") || strings.Contains(exit.Stderr, "stack exceeds"):
		return &runtimes.ProgramError{Type: runtimes.RecursionLimit, Message: "The program is nested too deeply for the interpreter.", Remedy: "Reduce the nesting of calls, data or brackets."}
	case strings.Contains(exit.Stderr, "out of memory"):
		return &runtimes.ProgramError{Type: runtimes.MemoryLimit}
	}
	return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The worker ended unexpectedly."}
}

// cut truncates text to at most n bytes and makes it valid UTF-8.
func cut(text string, n int) string {
	if len(text) > n {
		return strings.ToValidUTF8(text[:n-len("…")], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// encode marshals a value. It returns no error, because the value's type always has a JSON form.
func encode(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}
