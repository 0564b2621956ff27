// Package program is the role that looks after one program which is not ours, an interpreter with its files, in a child of
// a launcher. It writes the files, starts the program or greets the fork that waits, relays its output and host calls as
// frames with their order kept, and reports how it ended. It decides nothing: limits are the server's and the kernel's
// business. It runs beside the child, out of the program's reach.
package program

import (
	"bytes"
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Job is what the role carries out. It may come in two frames: the first with Ahead set starts the program, which then
// waits for its Hello; the second brings the rest.
type Job struct {
	Ahead bool `json:"ahead,omitempty"` // only Argv and Env count; a second Job follows

	// A program that is executed has, beyond its output, a channel as its descriptor 3 and a pipe with one byte as 4 (read)
	// and 5 (write), which it may use as a lock. A fork is there already and has the channel alone.
	Argv []string `json:"argv,omitempty"` // Argv[0] is an absolute path
	Env  []string `json:"env,omitempty"`

	Files   map[string][]byte `json:"files,omitempty"`   // to write beneath the work directory
	Stdin   string            `json:"stdin,omitempty"`   // one of Files; "" is an empty stdin
	Start   json.RawMessage   `json:"start,omitempty"`   // first line on the program's descriptor 3
	Result  string            `json:"result,omitempty"`  // file beneath the work directory to read when all is over
	Largest int64             `json:"largest,omitempty"` // bytes that the result may have
	Rlimits sandbox.Rlimits   `json:"rlimits"`
	Keep    bool              `json:"keep,omitempty"` // the program says something to keep before it runs, as the first after its Start
}

func (j Job) command() sandbox.Command { return sandbox.Command{Argv: j.Argv, Env: j.Env} }

// Report is what the role adds to a result, in its Stats.
type Report struct {
	End  json.RawMessage `json:"end,omitempty"`  // the last {"end": …} line that the program sent over descriptor 3
	Huge bool            `json:"huge,omitempty"` // that line was larger than allowed
	File FileState       `json:"file,omitempty"` // of the result file
	Flaw string          `json:"flaw,omitempty"` // what is wrong with an invalid one

	Kept []byte `json:"kept,omitempty"` // what a program with Keep said that it keeps
}

// FileState says what became of the result file.
type FileState string

// States of the result file. Only a FileValid one is in the result's Output.
const (
	FileAbsent    FileState = "absent" // or empty
	FileValid     FileState = "valid"
	FileInvalid   FileState = "invalid" // not JSON
	FileTooLarge  FileState = "too_large"
	FileIrregular FileState = "irregular" // a link, a device, a directory
)

// Message is one line that the program sends over descriptor 3: that it waits for its Hello, if it was started ahead; that
// it has read it and begins; what it keeps, if it was asked for that; a host call, which is answered with one line; its end.
// Without a Hello it began when it was started.
type Message struct {
	Ready bool   `json:"ready"`
	Start bool   `json:"start"`
	Kept  []byte `json:"kept"`

	Call string          `json:"call"`
	Args json.RawMessage `json:"args"`
	Tag  int64           `json:"tag"` // of a call: the program's own, its answer has it too
	End  json.RawMessage `json:"end"`
	Code *uint8          `json:"code"` // goes with End: how the program is about to exit
}

// JSON is v as JSON, with <, > and & in it as they are. json.Marshal makes six bytes of each, also in raw messages: a page
// that is within a limit would be beyond it.
func JSON(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// LimitsOf are the rlimits that go with a run's limits. They stand behind the control group: its counters tell us which
// limit was reached, so it has to be met first.
func LimitsOf(limits runtimes.Limits, stack uint64) sandbox.Rlimits {
	const openFiles, spare = 256, 16
	return sandbox.Rlimits{FileBytes: uint64(limits.DiskBytes), OpenFiles: openFiles, Processes: uint64(limits.Processes) + spare, Stack: stack}
}
