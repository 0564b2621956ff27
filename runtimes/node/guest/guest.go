// Package guest is the bundler, the part of the node engine written in Go that runs in a sandbox. It turns an agent's
// files into one program for Node. The program runs in another sandbox.
package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// RoleName is the name of the role that Serve implements.
const RoleName = "bundle"

// maxStack is the maximum stack size in bytes. A source that passes the pre-checks needs far less. If the bundler
// exceeds it, the worker crashes at once with a message that the server recognizes, instead of using up its memory
// first.
const maxStack = 64 << 20

// Job is the payload of the Job frame.
type Job struct {
	Files      map[string]string `json:"files"`
	Entrypoint string            `json:"entrypoint"`
	Language   runtimes.Language `json:"language"`
}

// Program is the output of a job: an expression that evaluates to the program's function, and its source map.
type Program struct {
	Code string          `json:"code"`
	Map  json.RawMessage `json:"map"`
}

// Serve bundles programs from conn, one at a time, until conn ends.
func Serve(conn net.Conn) error {
	debug.SetMaxStack(maxStack)
	in, out := frames.NewReader(bufio.NewReader(conn), map[frames.Kind]int{frames.Job: frames.MaxFrame}), frames.NewWriter(conn)
	for {
		_, payload, err := in.Read()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
			return nil
		}
		if err != nil {
			return err
		}
		var job Job
		if err := json.Unmarshal(payload, &job); err != nil {
			return fmt.Errorf("job: %w", err)
		}
		if err := out.Write(frames.Started, nil); err != nil {
			return err
		}
		result, err := build(job)
		if err != nil {
			return err
		}
		if err := out.WriteJSON(frames.Done, result); err != nil {
			return err
		}
	}
}

func build(job Job) (frames.Result, error) {
	files := make(map[string][]byte, len(job.Files))
	for name, text := range job.Files {
		files[name] = []byte(text)
	}
	bundled, problems := bundle.Build(bundle.Source{Files: files, Entrypoint: job.Entrypoint, Language: job.Language, Node: true})
	if len(problems) > 0 {
		return frames.Result{Error: bundle.Failure(problems)}, nil
	}
	output, err := json.Marshal(Program{Code: bundled.Code, Map: bundled.Map})
	return frames.Result{Output: output}, err
}
