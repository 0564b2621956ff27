// Package parcel packs a program as files that run on a machine without this server, and reads what they print and
// return. The files have the whole program, its input and a runner that implements the contract of the language.
package parcel

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed run.py
var python []byte

// Result is the path of the file with the result, below the folder of the parcel.
const Result = "out/result.json"

// Parcel is a program as files.
type Parcel struct {
	Files  map[string][]byte // by path below the folder
	Runner string            // path of the file that an interpreter executes
	mark   string
}

// job is what the runner reads.
type job struct {
	Entry   string            `json:"entry"`
	Mark    string            `json:"mark"`
	Env     map[string]string `json:"env"`
	Largest int64             `json:"largest"`
	Depth   int64             `json:"depth"`
	Out     string            `json:"out,omitempty"`
	Work    string            `json:"work,omitempty"`
}

// Folders names folders of the machine that runs a parcel. Empty ones are below the folder of the parcel.
type Folders struct {
	Out  string // of the file with the result
	Work string // working directory
}

// Languages lists the languages of parcels.
func Languages() []runtimes.Language { return []runtimes.Language{runtimes.Python} }

// Pack packs a program.
func Pack(j runtimes.Job, at Folders) (Parcel, error) {
	if _, ok := j.Files[j.Entrypoint]; !ok {
		return Parcel{}, fmt.Errorf("the entrypoint %q does not exist", j.Entrypoint)
	}
	p := Parcel{Files: map[string][]byte{"run.py": python}, Runner: "run.py", mark: rand.Text()}
	env := j.Environment
	if env == nil {
		env = map[string]string{}
	}
	brief, err := json.Marshal(job{Entry: j.Entrypoint, Mark: p.mark, Env: env, Largest: j.Limits.OutputBytes, Depth: j.Limits.RecursionDepth, Out: at.Out, Work: at.Work})
	if err != nil {
		return Parcel{}, err
	}
	input := j.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	p.Files["job.json"], p.Files["input.json"] = brief, input
	for path, content := range j.Files {
		p.Files["program/"+path] = content
	}
	return p, nil
}

// maxCall limits a marked line, maxCalls the number of calls, and maxMarked the bytes of all marked lines: a program knows
// the mark, and these lines do not count as its output.
const (
	maxCall   = 1 << 20
	maxCalls  = 10_000
	maxMarked = 32 << 20
)

// Reader passes the output of a parcel on and finds the calls of the host in it. Its methods must not be called
// concurrently.
type Reader struct {
	// Started is called once, when the program is about to start. Until then the interpreter and the runner start.
	Started func()

	relay   *worker.Relay
	host    runtimes.Host
	mark    []byte
	held    []byte // the start of a marked line, or of a mark
	marked  int64  // bytes of marked lines
	calls   int
	started bool
}

// Read returns a reader of the parcel's output.
func (p Parcel) Read(relay *worker.Relay, host runtimes.Host) *Reader {
	return &Reader{relay: relay, host: host, mark: append([]byte{0}, p.mark...)}
}

// Stdout takes output and reports whether it is within the limit.
func (r *Reader) Stdout(ctx context.Context, text []byte) bool {
	r.held = append(r.held, text...)
	rest := r.held
	defer func() { r.held = append(r.held[:0], rest...) }()
	for len(rest) > 0 {
		at := bytes.IndexByte(rest, 0)
		if at < 0 {
			at = len(rest)
		}
		if at > 0 {
			if !r.relay.Stdout(rest[:at]) {
				return false
			}
			rest = rest[at:]
			continue
		}
		known := min(len(rest), len(r.mark))
		switch {
		case !bytes.Equal(rest[:known], r.mark[:known]): // a program may print a zero byte
			if !r.relay.Stdout(rest[:1]) {
				return false
			}
			rest = rest[1:]
			continue
		case known < len(r.mark):
			return true
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			if len(rest) > maxCall {
				r.relay.Drop(int64(len(rest)))
				r.marked += int64(len(rest))
				rest = nil
			}
			return r.marked <= maxMarked
		}
		if r.marked += int64(end); r.marked > maxMarked {
			return false
		}
		r.call(ctx, rest[len(r.mark):end])
		rest = rest[end+1:]
	}
	return true
}

// Stderr takes output and reports whether it is within the limit.
func (r *Reader) Stderr(text []byte) bool { return r.relay.Stderr(text) }

// call passes a log entry or progress on. Other calls do not exist in a parcel.
func (r *Reader) call(ctx context.Context, line []byte) {
	var said struct {
		Call string          `json:"call"`
		Args json.RawMessage `json:"args"`
	}
	if json.Unmarshal(line, &said) != nil {
		return
	}
	if said.Call == "start" && !r.started && r.Started != nil {
		r.started = true
		r.Started()
	}
	if said.Call != "log" && said.Call != "progress" {
		return
	}
	if r.calls++; r.calls > maxCalls {
		r.relay.Drop(int64(len(line)))
		return
	}
	r.relay.Sync()
	_, _ = r.host.Call(ctx, said.Call, said.Args) // a note that the host refuses is not shown
}

// Outcome reads the file with the result, and the exit code.
func (r *Reader) Outcome(result []byte, exit *int) runtimes.Outcome {
	if len(r.held) > 0 && !bytes.HasPrefix(r.held, r.mark) {
		_ = r.relay.Stdout(r.held) // its limit is part of the outcome
	}
	var answer struct {
		Output json.RawMessage        `json:"output"`
		Error  *runtimes.ProgramError `json:"error"`
	}
	var outcome runtimes.Outcome
	switch err := json.Unmarshal(result, &answer); {
	case err != nil || answer.Error == nil && len(answer.Output) == 0:
		message := "The program ended without a result."
		if exit != nil && *exit != 0 {
			message = fmt.Sprintf("The program ended with exit code %d and without a result.", *exit)
		}
		outcome = r.relay.Failed(runtimes.ProgramError{Type: runtimes.RuntimeError, Message: message})
	case answer.Error != nil:
		outcome = r.relay.Failed(*answer.Error)
	default:
		outcome = r.relay.Succeeded(answer.Output)
	}
	outcome.ExitCode = exit
	return outcome
}

// MostResult is the largest file with a result that is read: one result, or one error.
func MostResult(limits runtimes.Limits) int64 { return limits.OutputBytes + (128 << 10) }
