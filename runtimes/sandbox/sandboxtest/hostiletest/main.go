// Command hostiletest is a jailed binary that follows a test's requests, so that tests can simulate a hostile program.
package main

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
)

// Request is an attempt that a test requests.
type Request struct {
	Do     string     `json:"do"`
	Path   string     `json:"path,omitempty"`
	Bytes  int        `json:"bytes,omitempty"`
	Argv   []string   `json:"argv,omitempty"`
	Number uintptr    `json:"number,omitempty"`
	Args   [6]uintptr `json:"args,omitempty"`
}

// Answer is the result of a request. Errno is 0 for success.
type Answer struct {
	Errno int      `json:"errno"`
	Error string   `json:"error,omitempty"`
	Text  string   `json:"text,omitempty"`
	List  []string `json:"list,omitempty"`
	Code  int      `json:"code"`
}

func main() {
	roles := []launcher.Role{
		{Name: "worker", Filter: sandbox.FilterWorker, Serve: serve},
		{Name: "program", Filter: sandbox.FilterProgram, Serve: serve},
	}
	code, jailed := launcher.Main(os.Args, roles)
	if !jailed {
		code = 2
	}
	os.Exit(code)
}

func serve(conn net.Conn) error {
	in := frames.NewReader(conn, map[frames.Kind]int{frames.Job: 1 << 20})
	out := frames.NewWriter(conn)
	for {
		_, payload, err := in.Read()
		if err != nil {
			return err
		}
		var request Request
		if err := json.Unmarshal(payload, &request); err != nil {
			return err
		}
		if request.Do == "close" {
			return conn.Close()
		}
		answer, err := do(request)
		if err != nil {
			answer.Error = err.Error()
			var errno syscall.Errno
			if errors.As(err, &errno) {
				answer.Errno = int(errno)
			}
		}
		if err := out.WriteJSON(frames.Done, answer); err != nil {
			return err
		}
	}
}

func do(request Request) (Answer, error) {
	switch request.Do {
	case "syscall":
		a := request.Args
		_, _, errno := syscall.Syscall6(request.Number, a[0], a[1], a[2], a[3], a[4], a[5])
		return Answer{Errno: int(errno)}, nil
	case "read":
		text, err := os.ReadFile(request.Path)
		return Answer{Text: string(text)}, err
	case "list":
		entries, err := os.ReadDir(request.Path)
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return Answer{List: names}, err
	case "write":
		return Answer{}, os.WriteFile(request.Path, make([]byte, request.Bytes), 0o600)
	case "environ":
		return Answer{List: os.Environ()}, nil
	case "grow":
		return Answer{}, grow(request.Bytes)
	case "recurse":
		return Answer{Code: recurse(0)}, nil
	case "threads":
		return Answer{}, threads(request.Bytes)
	case "run":
		return run(request.Argv)
	case "spin":
		for {
			runtime.Gosched()
		}
	case "return":
		os.Exit(7)
	}
	return Answer{}, errors.New("nobody knows how to " + request.Do)
}

func grow(bytes int) error {
	block := make([]byte, bytes)
	for at := 0; at < len(block); at += 4096 {
		block[at] = 1
	}
	runtime.KeepAlive(block)
	return nil
}

func recurse(n int) int {
	var pad [1024]byte
	pad[n%len(pad)] = 1
	return recurse(n+1) + int(pad[0])
}

// threads blocks n goroutines in system calls, so that each needs a thread.
func threads(count int) error {
	done := make(chan struct{})
	for range count {
		go func() {
			pause := syscall.Timespec{Nsec: int64(50 * time.Millisecond)}
			_ = syscall.Nanosleep(&pause, nil)
			done <- struct{}{}
		}()
	}
	for range count {
		<-done
	}
	return nil
}

// run starts a program in the same way as the real program role: with its own environment and without inherited
// descriptors.
func run(argv []string) (Answer, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/work", "TMPDIR=/tmp", "LANG=C.UTF-8"}
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	answer := Answer{Text: text.String()}
	if state := cmd.ProcessState; state != nil {
		answer.Code = state.ExitCode()
		if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			answer.Code = 128 + int(status.Signal())
		}
		return answer, nil
	}
	return answer, err
}
