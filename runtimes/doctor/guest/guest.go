// Package guest is the part of the doctor that runs inside the sandbox, under each filter. It makes the requested
// system calls. It reports their results, its environment and its user. It is a Go program, because the calls of an
// interpreter could change the results.
package guest

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
)

// Names of the roles. There is one role for each filter.
const (
	ProgramRole  = "doctor-program"
	AloneRole    = "doctor-alone"
	WorkerRole   = "doctor-worker"
	CompilerRole = "doctor-compiler"
)

// Roles returns the roles for launcher.Main.
func Roles() []launcher.Role {
	return []launcher.Role{
		{Name: ProgramRole, Filter: sandbox.FilterProgram, Serve: Serve},
		{Name: AloneRole, Filter: sandbox.FilterAlone, Serve: Serve},
		{Name: WorkerRole, Filter: sandbox.FilterWorker, Serve: Serve},
		{Name: CompilerRole, Filter: sandbox.FilterCompiler, Serve: Serve},
	}
}

// MaxFrame is the maximum size of a frame in either direction, in bytes.
const MaxFrame = 1 << 20

// Request lists the system calls and the paths to try.
type Request struct {
	Calls []Call   `json:"calls,omitempty"`
	Read  []string `json:"read,omitempty"` // paths to read
}

// Call is one system call.
type Call struct {
	Number uintptr    `json:"number"`
	Args   [6]uintptr `json:"args"`
}

// Answer holds an error number for each call (0: success) and an error for each path ("": success).
type Answer struct {
	Errnos  []int    `json:"errnos"`
	Errors  []string `json:"errors"`
	Environ []string `json:"environ"`
	UID     int      `json:"uid"`
	PID     int      `json:"pid"`
}

// Serve implements launcher.Role.
func Serve(conn net.Conn) error {
	in, out := frames.NewReader(conn, map[frames.Kind]int{frames.Job: MaxFrame}), frames.NewWriter(conn)
	for {
		_, payload, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil // the connection ends when the server has no more requests
		}
		if err != nil {
			return err
		}
		var request Request
		if err := json.Unmarshal(payload, &request); err != nil {
			return err
		}
		if err := out.WriteJSON(frames.Done, try(request)); err != nil {
			return err
		}
	}
}

func try(request Request) Answer {
	answer := Answer{Environ: syscall.Environ(), UID: os.Getuid(), PID: os.Getpid(), Errnos: []int{}, Errors: []string{}}
	for _, call := range request.Calls {
		a := call.Args
		_, _, errno := syscall.Syscall6(call.Number, a[0], a[1], a[2], a[3], a[4], a[5])
		answer.Errnos = append(answer.Errnos, int(errno))
	}
	for _, path := range request.Read {
		text := ""
		if _, err := os.ReadFile(path); err != nil {
			text = err.Error()
		}
		answer.Errors = append(answer.Errors, text)
	}
	return answer
}
