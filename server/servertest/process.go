package servertest

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// built returns the path of the binary under test. The binary is built once per test process.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "atelier-servertest-")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "atelier"), os.Chmod(dir, 0o755)
})

var building sync.Once

// Binary builds the program in the same way as a release: without cgo, and only from the packages that are compiled
// without cgo.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	building.Do(func() {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, ".")
		cmd.Dir, cmd.Env = Root(t), append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, text)
		}
	})
	return path
}

// RemoveBinary removes the binary under test. TestMain calls it at the end.
func RemoveBinary() {
	if path, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // Ignore the error: a file that stays in the temporary directory is harmless.
	}
}

// Process is a server that runs as a process of the real binary.
type Process struct {
	*Client
	Data     string
	Link     string // one-time sign-in link that the process printed
	ReadOnly string // reason that the process printed why nothing can be stored; "" if the database can be written
	Log      *Log
	cmd      *exec.Cmd
	ended    chan struct{} // closed when the process has ended
	err      error         // error with which the process ended
}

// Spawn starts `atelier serve` as a process on a data directory, with an empty environment. The process is killed when
// the test ends.
func Spawn(t testing.TB, data string, flags ...string) *Process {
	t.Helper()
	return SpawnWith(t, data, []string{}, flags...)
}

// SpawnWith does the same as Spawn, but with the given environment.
func SpawnWith(t testing.TB, data string, environment []string, flags ...string) *Process {
	t.Helper()
	return spawn(t, data, environment, exec.Command(Binary(t), serveArgs(data, flags)...))
}

// SpawnIn does the same as Spawn, but starts the server in a control group. members is the path of the file
// cgroup.procs of the group.
func SpawnIn(t testing.TB, members, data string, flags ...string) *Process {
	t.Helper()
	args := append([]string{"-c", `echo $$ >"$0" && exec "$@"`, members, Binary(t)}, serveArgs(data, flags)...)
	return spawn(t, data, []string{}, exec.Command("/bin/sh", args...))
}

func serveArgs(data string, flags []string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, flags...)
}

func spawn(t testing.TB, data string, environment []string, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Data: data, Log: &Log{}, ended: make(chan struct{}), cmd: cmd}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = t.TempDir(), environment, p.Log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // Ignore the error: the process may have ended.
		<-p.ended                // Wait for the end, because the process writes to folders that the test removes next.
		if t.Failed() {
			t.Logf("the server's log:\n%s", p.Log)
		}
	})
	link := regexp.MustCompile(`Open {2}((http://\S+)/login\S+)`)
	address := regexp.MustCompile(`serves (http://\S+)`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		if found := address.FindStringSubmatch(line); found != nil {
			p.Client = &Client{URL: found[1]}
		}
		if found := link.FindStringSubmatch(line); found != nil {
			p.Link = found[1]
			break
		}
		if _, why, found := strings.Cut(line, "READ-ONLY"); found {
			p.ReadOnly = strings.TrimSpace(why)
			break
		}
	}
	go func() {
		for lines.Scan() { // Read further output too, because a full pipe would block the process.
		}
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	if p.Client == nil {
		<-p.ended
		t.Fatalf("the server did not start: %v\n%s", p.err, p.Log)
	}
	return p
}

// PID returns the ID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal to the process.
func (p *Process) Signal(t testing.TB, signal os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// Kill kills the process.
func (p *Process) Kill() error { return p.cmd.Process.Kill() }

// Exit waits for the end of the process. It returns the exit code, or -1 if the process was killed.
func (p *Process) Exit() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// Said contains the output and the exit code of a command.
type Said struct {
	Code           int
	Stdout, Stderr string
}

// Command runs the program once with the given arguments.
func Command(t testing.TB, stdin string, args ...string) Said {
	t.Helper()
	return CommandIn(t, t.Context(), stdin, args...)
}

// CommandWith does the same as Command, with the given environment variables.
func CommandWith(t testing.TB, environ []string, stdin string, args ...string) Said {
	t.Helper()
	return commandIn(t, t.Context(), environ, stdin, args...)
}

// CommandIn does the same as Command, but kills the program when ctx ends.
func CommandIn(t testing.TB, ctx context.Context, stdin string, args ...string) Said {
	t.Helper()
	return commandIn(t, ctx, []string{}, stdin, args...)
}

func commandIn(t testing.TB, ctx context.Context, environ []string, stdin string, args ...string) Said {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, Binary(t), args...)
	cmd.Dir, cmd.Env = t.TempDir(), environ
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader([]byte(stdin)), &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return Said{Code: cmd.ProcessState.ExitCode(), Stdout: out.String(), Stderr: errs.String()}
}
