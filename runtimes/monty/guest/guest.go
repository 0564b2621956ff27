// Package guest is the part of the monty engine that runs inside the sandbox. It starts the Monty interpreter as a child
// process and uses its protocol: it sends the program, executes its calls, and reports its result. The program can reach
// nothing outside of the interpreter except through these calls.
package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// Argument is the first argument of a process that runs a Monty program.
const Argument = "run-monty"

// Job is the JSON of the line that the process reads from the server at its start.
type Job struct {
	Entry     string            `json:"entry"`
	Source    string            `json:"source"`
	Input     json.RawMessage   `json:"input"`
	Env       map[string]string `json:"env"`
	Memory    int64             `json:"memory"`    // maximum memory of the program's values in bytes
	Recursion int64             `json:"recursion"` // maximum depth of calls
	Largest   int64             `json:"largest"`   // maximum size of the result in bytes
	Resume    *Waiting          `json:"resume,omitempty"`
}

// Main must be called first in main. If args are those of a process that runs a Monty program, Main runs the program
// and returns the exit code. Otherwise ours is false.
func Main(args []string) (code int, ours bool) {
	if len(args) != 3 || args[1] != Argument {
		return 0, false
	}
	if err := serve(args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// serve starts an interpreter, reports that it is ready, and runs the program of one job.
func serve(interpreter string) error {
	file := os.NewFile(3, "channel")
	if file == nil {
		return errors.New("this command is internal; the server starts it in a sandbox")
	}
	out, in, err := program.Pipe(interpreter, "subprocess")
	if err != nil {
		return err
	}
	host := &channel{Writer: file, in: bufio.NewReader(file)}
	if err := host.send(map[string]any{"ready": true}); err != nil {
		return err
	}
	var job Job
	if err := host.read(&job); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	s := &session{job: job, in: in, out: bufio.NewReader(out), stdout: os.Stdout, stderr: os.Stderr, host: host}
	if err := s.configure(); err != nil { // the program has not started, so this is an error of the server
		return err
	}
	if err := host.send(map[string]any{"start": true}); err != nil {
		return err
	}
	output, failure, err := s.run()
	if err != nil {
		return err
	}
	last := end{End: map[string]any{"output": output}}
	if failure != nil {
		last = end{End: map[string]any{"error": failure}, Code: 1}
	}
	return host.send(last)
}

// end is the last message to the server. End must be the first field: the server recognizes a long last message by its
// beginning.
type end struct {
	End  map[string]any `json:"end"`
	Code int            `json:"code"`
}

// channel is the connection to the server on file descriptor 3. Both sides send lines of JSON.
type channel struct {
	io.Writer
	in    *bufio.Reader
	calls int64
}

// maxCall is the maximum size of the line of a host call in bytes, which the server enforces, too.
const maxCall = 1 << 20

func (c *channel) send(message any) error {
	line, err := program.JSON(message)
	if err != nil {
		return err
	}
	_, err = c.Write(append(line, '\n'))
	return err
}

func (c *channel) read(into any) error {
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

// call calls a host function and waits for its reply. If it returns a *runtimes.CallError, the program receives an
// exception. Any other error ends the process.
func (c *channel) call(name string, args any) (json.RawMessage, error) {
	text, err := program.JSON(args)
	if err != nil {
		return nil, err
	}
	if len(text) > maxCall-len(name)-64 {
		return nil, &runtimes.CallError{Code: "invalid_arguments", Message: "A host call must have at most 1 MiB."}
	}
	c.calls++
	if err := c.send(map[string]any{"call": name, "tag": c.calls, "args": text}); err != nil {
		return nil, err
	}
	var reply struct {
		Result json.RawMessage     `json:"result"`
		Error  *runtimes.CallError `json:"error"`
	}
	if err := c.read(&reply); err != nil {
		return nil, err
	}
	if reply.Error != nil {
		return nil, reply.Error
	}
	return reply.Result, nil
}
