// Package parcel packs a program into files that can be executed on a machine without this server. It also reads the
// output and the result of the program. The files contain the program, its input, and a runner that implements the
// contract of the language.
package parcel

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bash"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/node"
	"github.com/atelier-run/atelier/runtimes/node/guest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed run.py
var python []byte

//go:embed run.js
var javascript []byte

//go:embed run.sh
var shell []byte

// Paths relative to the folder of the parcel.
const (
	Result = "out/result.json" // file with the result
	Work   = "work"            // working directory of Python programs
)

// Parcel is a program that is packed into files.
type Parcel struct {
	Files map[string][]byte // content by path, relative to the folder of the parcel
	// Command line: the interpreter, its flags, and the path of the file that the interpreter executes.
	command []string
	mark    string          // random text that marks the lines with calls in the output
	script  *bash.Elsewhere // set for Bash; nil for other languages
}

// Command returns the command that executes the parcel in a folder. The environment must contain PATH, HOME, LANG and
// TMPDIR.
func (p Parcel) Command(folder string) []string {
	last := len(p.command) - 1
	return append(slices.Clone(p.command[:last]), folder+"/"+p.command[last])
}

// job is the content of the file that the runners of Python and JavaScript read.
type job struct {
	Entry   string            `json:"entry"`
	Mark    string            `json:"mark"`
	Env     map[string]string `json:"env"`
	Largest int64             `json:"largest"`
	Depth   int64             `json:"depth"`
	Seconds float64           `json:"seconds"` // time limit, which the runner enforces in a WebAssembly module
	Files   []string          `json:"files"`
	Out     string            `json:"out,omitempty"`
	Work    string            `json:"work,omitempty"`
}

// Folders are folders on the machine that runs a parcel. An empty field stands for a folder below the folder of the
// parcel.
type Folders struct {
	Out  string // folder of the result file
	Work string // working directory of Python programs
}

// Bundle is a function that bundles the files of a JavaScript or TypeScript agent into one program for Node. If the
// files cannot be bundled, it returns the outcome of the run.
type Bundle func(ctx context.Context, j runtimes.Job) (guest.Program, *runtimes.Outcome, error)

// Pack packs a program. If that is impossible, for example because of a syntax error, it returns the outcome of the run.
func Pack(ctx context.Context, j runtimes.Job, at Folders, bundle Bundle) (Parcel, *runtimes.Outcome, error) {
	if _, ok := j.Files[j.Entrypoint]; !ok {
		failed := runtimes.Failed(runtimes.RuntimeError, fmt.Sprintf("The entrypoint %q does not exist.", j.Entrypoint))
		return Parcel{}, &failed, nil
	}
	p := Parcel{Files: map[string][]byte{}, mark: rand.Text()}
	input := j.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	p.Files["input.json"] = input
	for path, content := range j.Files {
		p.Files["program/"+path] = content
	}
	if j.Language == runtimes.Bash {
		p.bash(j, at)
		return p, nil, nil
	}
	env := j.Environment
	if env == nil {
		env = map[string]string{}
	}
	brief, err := json.Marshal(job{
		Entry: j.Entrypoint, Mark: p.mark, Env: env, Largest: j.Limits.OutputBytes, Depth: j.Limits.RecursionDepth, Seconds: float64(j.Limits.TimeoutMs) / 1000, Files: slices.Sorted(maps.Keys(j.Files)), Out: at.Out, Work: at.Work,
	})
	if err != nil {
		return Parcel{}, nil, err
	}
	p.Files["job.json"] = brief
	if j.Language == runtimes.Python {
		p.Files["run.py"], p.command = python, []string{"python3", "-B", "-X", "utf8", "run.py"}
		return p, nil, nil
	}
	bundled, failed, err := bundle(ctx, j)
	if err != nil || failed != nil {
		return Parcel{}, failed, err
	}
	p.Files["program.js"], p.Files["program.js.map"] = []byte(bundled.Code), bundled.Map
	p.Files["inner.js"], p.Files["run.js"], p.Files["start.cjs"] = []byte(node.Inner()), javascript, []byte(start)
	p.command = []string{"node", "--no-warnings", "--no-deprecation", "--max-old-space-size=" + strconv.FormatInt(max(j.Limits.MemoryBytes>>20, 16), 10), "start.cjs"}
	return p, nil, nil
}

// Mark returns the mark of the lines with calls in the output. Resume needs it after a restart of the server.
func (p Parcel) Mark() string { return p.mark }

// Resume returns a parcel that was packed before a restart of the server. The parcel has no files, but its output can
// be read.
func Resume(j runtimes.Job, mark string) Parcel {
	p := Parcel{mark: mark}
	if j.Language == runtimes.Bash {
		p.script = bash.NewElsewhere(j)
	}
	return p
}

// start is a script that executes the runner under a certain file name. The guest script removes lines with this name
// from stack traces.
const start = `const { readFileSync } = require("node:fs"), { Script } = require("node:vm");
const load = (name) => new Script("(" + readFileSync(__dirname + "/" + name, "utf8") + "\n)", { filename: "/work/(atelier)" }).runInThisContext();
load("run.js")(require, __dirname, load("inner.js"));
`

// bash packs a Bash script. The runner reads the file job, which contains strings that each end with a zero byte: the
// entrypoint, the folder of the result, the mark, and the environment.
func (p *Parcel) bash(j runtimes.Job, at Folders) {
	p.script = bash.NewElsewhere(j)
	brief := append([]string{j.Entrypoint, at.Out, p.mark}, p.script.Environment(p.Files["input.json"])...)
	p.Files["job"] = []byte(strings.Join(brief, "\x00") + "\x00")
	p.Files["prelude.sh"], p.Files["run.sh"] = p.script.Prelude(p.mark), shell
	p.command = []string{"bash", "--noprofile", "--norc", "run.sh"}
}

// maxCall is the maximum size of a marked line, maxCalls the maximum number of calls, and maxMarked the maximum size of
// all marked lines. These limits are needed because marked lines do not count as output, and a program can find out the
// mark.
const (
	maxCall   = 1 << 20
	maxCalls  = 10_000
	maxMarked = 32 << 20
)

// Reader forwards the output of a parcel. It executes the calls of host functions in the marked lines. Its methods must
// not be called concurrently.
type Reader struct {
	// Started is called once: after the start of the interpreter and the runner, and just before the start of the program.
	Started func()

	relay   *worker.Relay
	host    runtimes.Host
	mark    []byte
	script  *bash.Elsewhere // set for Bash; nil for other languages
	held    []byte          // bytes that were not forwarded yet: the start of a mark or of a marked line
	marked  int64           // number of bytes of marked lines so far
	calls   int
	started bool
}

// Read returns a reader of the parcel's output.
func (p Parcel) Read(relay *worker.Relay, host runtimes.Host) *Reader {
	return &Reader{relay: relay, host: host, mark: append([]byte{0}, p.mark...), script: p.script}
}

// Stdout reads a piece of stdout. The piece may end anywhere. Stdout returns false if a limit is exceeded.
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
			if !r.print(rest[:at]) {
				return false
			}
			rest = rest[at:]
			continue
		}
		known := min(len(rest), len(r.mark))
		switch {
		// The bytes are not the mark, because a program may print a zero byte itself.
		case !bytes.Equal(rest[:known], r.mark[:known]):
			if !r.print(rest[:1]) {
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

func (r *Reader) print(text []byte) bool {
	if r.script != nil {
		r.script.Print(frames.Stdout, text)
	}
	return r.relay.Stdout(text)
}

// Stderr reads a piece of stderr. It returns false if the output limit is exceeded.
func (r *Reader) Stderr(text []byte) bool {
	if r.script != nil {
		r.script.Print(frames.Stderr, text)
	}
	return r.relay.Stderr(text)
}

// call executes a call in a marked line. A program in a parcel can only call the host functions log and progress.
func (r *Reader) call(ctx context.Context, line []byte) {
	var said struct {
		Call string          `json:"call"`
		Args json.RawMessage `json:"args"`
		End  json.RawMessage `json:"end"`
	}
	if json.Unmarshal(line, &said) != nil {
		return
	}
	if said.End != nil && r.script != nil {
		r.script.End(said.End)
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
	_, _ = r.host.Call(ctx, said.Call, said.Args) // an invalid log entry or progress is dropped
}

// Outcome returns the outcome of the run. result is the content of the result file and code the exit code; both may be
// nil.
func (r *Reader) Outcome(result []byte, exit *int) runtimes.Outcome {
	if len(r.held) > 0 && !bytes.HasPrefix(r.held, r.mark) {
		_ = r.print(r.held) // if a limit was exceeded, the outcome contains that
	}
	if r.script != nil && exit != nil {
		return r.concluded(result, *exit)
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
	case answer.Error != nil && answer.Error.Type == runtimes.Timeout:
		outcome = r.relay.Reached(runtimes.Timeout)
	case answer.Error != nil:
		outcome = r.relay.Failed(*answer.Error)
	default:
		outcome = r.relay.Succeeded(answer.Output)
	}
	outcome.ExitCode = exit
	return outcome
}

// concluded returns the outcome of a Bash script.
func (r *Reader) concluded(result []byte, code int) runtimes.Outcome {
	var outcome runtimes.Outcome
	if output, failed := r.script.Conclude(code, result); failed != nil {
		outcome = r.relay.Failed(*failed)
	} else {
		outcome = r.relay.Succeeded(output)
	}
	outcome.ExitCode = &code
	return outcome
}

// MostResult returns the maximum size of the result file in bytes. The file contains a result or an error.
func MostResult(limits runtimes.Limits) int64 { return limits.OutputBytes + (128 << 10) }
