// Package program implements the role that runs one foreign program, such as an interpreter, in a child of a launcher.
// It writes the program's files. It starts the program or sends the start message to a waiting fork, and reports the
// end. It forwards output and host calls as frames, in their order. It enforces no limits, because the server and the
// kernel do. It runs in the launcher, where the program cannot reach it.
package program

import (
	"bytes"
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
)

// Job is the input of the role. The server may send it in two frames. The first one has Ahead set and starts the
// program, which then waits for its start message. The second one contains the other fields.
type Job struct {
	Ahead bool `json:"ahead,omitempty"` // only Argv and Env are used; a second Job follows

	// The program's descriptor 3 is the channel to the launcher. An executed program can use a pipe that contains one
	// byte as a lock: descriptor 4 to read and 5 to write. A fork already runs and has only the channel.
	Argv []string `json:"argv,omitempty"` // Argv[0] is an absolute path
	Env  []string `json:"env,omitempty"`

	Files   map[string][]byte `json:"files,omitempty"`   // files to write to the work directory
	Stdin   string            `json:"stdin,omitempty"`   // one of Files; "" is an empty stdin
	Start   json.RawMessage   `json:"-"`                 // first line on the program's descriptor 3; the tail of the frame
	Result  string            `json:"result,omitempty"`  // file in the work directory to read at the end
	Largest int64             `json:"largest,omitempty"` // size limit of the result in bytes
	Rlimits launcher.Rlimits  `json:"rlimits"`
	Keep    bool              `json:"keep,omitempty"` // the first line that the program sends after its start report contains Report.Kept
}

// Tail implements frames.Tailed.
func (j Job) Tail() []byte { return j.Start }

func (j Job) command() sandbox.Command { return sandbox.Command{Argv: j.Argv, Env: j.Env} }

// Report is the role's own part of a result. It is sent in the field Stats.
type Report struct {
	End   json.RawMessage `json:"end,omitempty"`   // the last {"end": …} line that the program sent over descriptor 3
	Ahead bool            `json:"ahead,omitempty"` // the end message was sent before this report, in Part frames
	Huge  bool            `json:"huge,omitempty"`  // the end message was larger than allowed
	File  FileState       `json:"file,omitempty"`  // state of the result file

	Kept []byte `json:"kept,omitempty"` // data that the program sent because of Job.Keep
}

// FileState is the state of the result file.
type FileState string

// States of the result file. The role reports FileRead, FileAbsent or FileIrregular. The server distinguishes the other states
// by the content, see ReadFile.
const (
	FileRead      FileState = "read"   // the content was sent before the report, in Part frames
	FileAbsent    FileState = "absent" // the file is missing or empty
	FileValid     FileState = "valid"
	FileInvalid   FileState = "invalid" // the content is not JSON
	FileTooLarge  FileState = "too_large"
	FileIrregular FileState = "irregular" // the path is not a regular file, but for example a link, a device or a directory
)

// Message is one line that the program sends over descriptor 3. It contains exactly one of these: Ready (a program that
// was started in advance waits for its start message), Start (the program has read the message and begins), Kept (data
// requested by Job.Keep), a host call, which gets a reply of one line, or End. A program without a start message begins
// as soon as it is started.
type Message struct {
	Ready bool   `json:"ready"`
	Start bool   `json:"start"`
	Kept  []byte `json:"kept"`

	Call string          `json:"call"`
	Args json.RawMessage `json:"args"`
	Tag  int64           `json:"tag"` // number that the program chose for a call; the reply repeats it
	End  json.RawMessage `json:"end"`
	Code *uint8          `json:"code"` // with End: exit code of the program
}

// JSON encodes v without escaping <, > and &. json.Marshal replaces each by six bytes, even in raw messages, so that a text
// such as an HTML page could exceed a size limit.
func JSON(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// LimitsOf returns the rlimits for a run's limits. They are higher than the limits of the control group, because only the
// group's counters show which limit was reached. Without a group, sockets × Processes bounds the memory that sockets can
// use until the next measurement of the server.
func LimitsOf(limits runtimes.Limits, stack uint64) launcher.Rlimits {
	const openFiles, sockets, spare = 256, 64, 16
	return launcher.Rlimits{FileBytes: uint64(limits.DiskBytes), OpenFiles: openFiles, Sockets: sockets, Processes: uint64(limits.Processes) + spare, Stack: stack}
}
