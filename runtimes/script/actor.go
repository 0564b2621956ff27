package script

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

const deepest = 16 // maximum depth of included files

// actor executes one script.
type actor struct {
	job    runtimes.Job
	in     *frames.Reader
	out    *frames.Writer
	killed <-chan struct{}
	calls  int64
	output json.RawMessage
}

// play executes the commands of one file. An error means that the connection has ended.
func (a *actor) play(name string, depth int) (*runtimes.ProgramError, error) {
	text, ok := a.job.Files[name]
	if !ok {
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("File %q not found.", name)}, nil
	}
	if depth > deepest {
		return &runtimes.ProgramError{Type: runtimes.RecursionLimit, Message: "The files include each other.", File: name}, nil
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		failure, err := a.command(strings.TrimRight(line, "\r\n"), depth)
		if failure != nil && failure.Line == 0 {
			failure.File, failure.Line, failure.Column = name, number, 1
		}
		if failure != nil || err != nil {
			return failure, err
		}
	}
	return nil, nil
}

func (a *actor) command(line string, depth int) (*runtimes.ProgramError, error) {
	word, rest, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	switch word {
	case "", "#":
		return nil, nil
	case "print":
		return nil, a.out.Write(frames.Stdout, []byte(rest+"\n"))
	case "stderr":
		return nil, a.out.Write(frames.Stderr, []byte(rest+"\n"))
	case "flood":
		for {
			if err := a.out.Write(frames.Stdout, []byte(rest+"\n")); err != nil {
				return nil, err
			}
		}
	case "log":
		return a.log(rest)
	case "progress":
		return a.progress(rest)
	case "call":
		name, args, _ := strings.Cut(rest, " ")
		return a.call(name, json.RawMessage(args))
	case "sleep":
		return a.sleep(rest)
	case "wait":
		<-a.killed
		return nil, nil
	case "include":
		return a.play(rest, depth+1)
	case "fail":
		kind, message, _ := strings.Cut(rest, " ")
		return &runtimes.ProgramError{Type: runtimes.ErrorType(kind), Message: message}, nil
	default:
		return a.result(word, rest), nil
	}
}

// result executes the commands that set the result, and rejects unknown commands.
func (a *actor) result(word, rest string) *runtimes.ProgramError {
	switch word {
	case "output":
		if !json.Valid([]byte(rest)) {
			return &runtimes.ProgramError{Type: runtimes.InvalidOutput, Message: "output is not valid JSON"}
		}
		a.output = json.RawMessage(rest)
	case "output-size":
		size, err := strconv.Atoi(rest)
		if err != nil || size < 0 || int64(size) > a.job.Limits.OutputBytes {
			return &runtimes.ProgramError{Type: runtimes.OutputLimit}
		}
		a.output = encode(strings.Repeat("x", size))
	case "echo":
		a.output = a.job.Input
	case "environment":
		a.output = encode(a.job.Environment)
	default:
		return &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: fmt.Sprintf("Unknown command %q.", word)}
	}
	return nil
}

func (a *actor) log(rest string) (*runtimes.ProgramError, error) {
	level, message, _ := strings.Cut(rest, " ")
	data := runtimes.LogData{Level: level, Message: message}
	if i := strings.LastIndex(message, " {"); i >= 0 && json.Valid([]byte(message[i+1:])) {
		data.Message, data.Fields = message[:i], json.RawMessage(message[i+1:])
	}
	return a.call("log", encode(data))
}

func (a *actor) progress(rest string) (*runtimes.ProgramError, error) {
	const parts = 3
	words := append(strings.SplitN(rest, " ", parts), "0", "")
	done, err := strconv.ParseFloat(words[0], 64)
	total, err2 := strconv.ParseFloat(words[1], 64)
	if err != nil || err2 != nil {
		return &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "progress requires numbers: progress DONE [TOTAL [MESSAGE]]"}, nil
	}
	data := runtimes.ProgressData{Done: done, Total: total}
	if n := strings.Count(rest, " "); n >= parts-1 {
		data.Message = words[2]
	}
	return a.call("progress", encode(data))
}

// call sends a host call and waits for its reply.
func (a *actor) call(name string, args json.RawMessage) (*runtimes.ProgramError, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "The arguments of a call must be JSON."}, nil
	}
	a.calls++
	if err := a.out.WriteJSON(frames.CallReq, frames.Call{ID: a.calls, Name: name, Args: args}); err != nil {
		return nil, err
	}
	_, payload, err := a.in.Read()
	if err != nil {
		return nil, err
	}
	var answer frames.Answer
	if err := json.Unmarshal(payload, &answer); err != nil {
		return nil, err
	}
	switch {
	case answer.Error == nil:
		return nil, nil
	case answer.Error.Code == "denied":
		return &runtimes.ProgramError{Type: runtimes.Denied, Message: answer.Error.Message}, nil
	default:
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: answer.Error.Message}, nil
	}
}

func (a *actor) sleep(text string) (*runtimes.ProgramError, error) {
	duration, err := time.ParseDuration(text)
	if err != nil {
		return &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "sleep requires a duration, for example 50ms."}, nil
	}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-a.killed:
	}
	return nil, nil
}

// encode marshals values that always marshal.
func encode(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}
