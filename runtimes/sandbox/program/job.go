// Package program implements the role that runs one foreign program, an interpreter with its files, in a child of a
// launcher. It writes the files, starts the program or greets the waiting fork, and reports the end. It relays output
// and host calls as frames in their order. It makes no decisions: the server and the kernel enforce limits. It runs
// outside of the child, out of the program's reach.
package program

import (
	"bytes"
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
)

// Job is the input of the role. It may come in two frames. The first one, with Ahead set, starts the program, which
// then waits for its Hello. The second one brings the rest.
type Job struct {
	Ahead bool `json:"ahead,omitempty"` // only Argv and Env count; a second Job follows

	// An executed program has a channel as its descriptor 3. It may use a pipe with one byte, 4 (read) and 5 (write),
	// as a lock. A fork runs already and has only the channel.
	Argv []string `json:"argv,omitempty"` // Argv[0] is an absolute path
	Env  []string `json:"env,omitempty"`

	Files   map[string][]byte `json:"files,omitempty"`   // files to write to the work directory
	Stdin   string            `json:"stdin,omitempty"`   // one of Files; "" is an empty stdin
	Start   json.RawMessage   `json:"start,omitempty"`   // first line on the program's descriptor 3
	Result  string            `json:"result,omitempty"`  // file in the work directory to read at the end
	Largest int64             `json:"largest,omitempty"` // size limit of the result in bytes
	Rlimits launcher.Rlimits  `json:"rlimits"`
	Keep    bool              `json:"keep,omitempty"` // the program sends data to keep before it runs, as the first line after its Start
}

func (j Job) command() sandbox.Command { return sandbox.Command{Argv: j.Argv, Env: j.Env} }

// Report holds the values that the role adds to a result, in its Stats.
type Report struct {
	End   json.RawMessage `json:"end,omitempty"`   // the last {"end": …} line that the program sent over descriptor 3
	Ahead bool            `json:"ahead,omitempty"` // that line was sent before this report, in Part frames
	Huge  bool            `json:"huge,omitempty"`  // that line was larger than allowed
	File  FileState       `json:"file,omitempty"`  // state of the result file

	Kept []byte `json:"kept,omitempty"` // data that a program with Keep sent
}

// FileState is the state of the result file.
type FileState string

// States of the result file. The role reports FileRead, FileAbsent or FileIrregular. The server distinguishes the other states
// by the content, see ReadFile.
const (
	FileRead      FileState = "read"   // its content was sent before the report, in Part frames
	FileAbsent    FileState = "absent" // or empty
	FileValid     FileState = "valid"
	FileInvalid   FileState = "invalid" // not JSON
	FileTooLarge  FileState = "too_large"
	FileIrregular FileState = "irregular" // a link, a device, a directory
)

// Message is one line that the program sends over descriptor 3. It reports that the program waits for its Hello (if
// started ahead), or has read it and begins. It carries kept data if requested, a host call, which gets a reply of one
// line, or the end. Without a Hello, the program begins when it is started.
type Message struct {
	Ready bool   `json:"ready"`
	Start bool   `json:"start"`
	Kept  []byte `json:"kept"`

	Call string          `json:"call"`
	Args json.RawMessage `json:"args"`
	Tag  int64           `json:"tag"` // the program's own number of a call; the reply has the same
	End  json.RawMessage `json:"end"`
	Code *uint8          `json:"code"` // with End: exit code of the program
}

// JSON encodes v without escaping <, > and &. json.Marshal makes six bytes of each, also in raw messages. A page within
// a limit could then exceed it.
func JSON(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// LimitsOf returns the rlimits for a run's limits. They are looser than the control group, whose counters show which
// limit was reached. So the group's limit must be met first. Without a group, sockets × Processes bounds the memory that
// sockets can hold until the server looks.
func LimitsOf(limits runtimes.Limits, stack uint64) launcher.Rlimits {
	const openFiles, sockets, spare = 256, 64, 16
	return launcher.Rlimits{FileBytes: uint64(limits.DiskBytes), OpenFiles: openFiles, Sockets: sockets, Processes: uint64(limits.Processes) + spare, Stack: stack}
}
