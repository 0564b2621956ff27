package doctor_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/doctor"
)

// naked is a runtime that runs programs directly on the host, without a sandbox. The doctor must report failures for
// it.
type naked struct {
	tb     testing.TB
	marker string // in the environment of all its processes
}

func newNaked(tb testing.TB) *naked {
	n := &naked{tb: tb, marker: "NAKED=" + rand.Text()}
	tb.Cleanup(func() {
		for _, s := range doctor.Sightings(func(argv string) bool { return strings.HasPrefix(argv, "sleep ") }) {
			environ, err := os.ReadFile(filepath.Join("/proc", itoa(s.PID()), "environ"))
			if err == nil && strings.Contains(string(environ), n.marker) {
				_ = syscall.Kill(s.PID(), syscall.SIGKILL) // a daemon that a program has left does not end by itself
			}
		}
		for _, place := range []string{"/tmp/doctor-mark", "/dev/shm/doctor-mark", "/tmp/neighbour", "/dev/shm/neighbour", "/tmp/link"} {
			_ = os.Remove(place)
		}
	})
	return n
}

const wrapper = `import json, os, sys
sys.path.insert(0, os.getcwd())
import main
arguments = [json.loads(os.environ["INPUT"])] if main.main.__code__.co_argcount else []
result = main.main(*arguments)
sys.stdout.flush()
open(os.environ["OUTPUT"], "w").write(json.dumps(result))
`

// Run implements runtimes.Runtime.
func (n *naked) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	dir, err := os.MkdirTemp("", "naked-")
	if err != nil {
		return runtimes.Outcome{}, err
	}
	defer os.RemoveAll(dir)
	for name, content := range job.Files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return runtimes.Outcome{}, err
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil { // another user writes the result there
		return runtimes.Outcome{}, err
	}
	argv := []string{"/usr/bin/bash", job.Entrypoint}
	if job.Language == runtimes.Python {
		argv = []string{"/usr/bin/python3", "-c", wrapper}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	output := filepath.Join(dir, "output.json")
	cmd.Env = append(os.Environ(), "INPUT="+string(job.Input), "OUTPUT="+output, n.marker)
	cmd.Stdout, cmd.Stderr = emitter{host, runtimes.KindStdout}, emitter{host, runtimes.KindStderr}
	cmd.WaitDelay = 100 * time.Millisecond // daemons keep the pipes open, so Run must not wait for their end
	if os.Geteuid() == 0 {
		// The programs have no sandbox, so they must at least not run as root on this machine.
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if err := cmd.Run(); err != nil && ctx.Err() == nil && cmd.ProcessState != nil && !cmd.ProcessState.Success() {
		return runtimes.Failed(runtimes.RuntimeError, err.Error()), nil
	}
	text, err := os.ReadFile(output)
	if err != nil || !json.Valid(text) {
		text = []byte("null")
	}
	return runtimes.Outcome{Output: text, Level: "full"}, nil
}

type emitter struct {
	host runtimes.Host
	kind runtimes.Kind
}

func (e emitter) Write(p []byte) (int, error) {
	e.host.Emit(runtimes.Text(e.kind, string(p)))
	return len(p), nil
}

// TestWithoutAnyJail checks that every group of checks on isolation fails, in each language, if programs run without a
// sandbox.
func TestWithoutAnyJail(t *testing.T) {
	planted, err := doctor.Plant() // changes the environment of this process, so not in parallel with other tests
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = planted.Pull() })
	n := newNaked(t)
	report := doctor.New(doctor.Options{
		Box: newBox(t), Planted: planted, Look: goodFacts,
		Engines: []doctor.Engine{
			{Language: runtimes.Python, Name: runtimes.PythonEngine, Runtime: n, Interpreter: "/usr/bin/python3"},
			{Language: runtimes.Bash, Name: runtimes.BashEngine, Runtime: n, Interpreter: "/usr/bin/bash"},
		},
		Only: []doctor.Group{doctor.Inside, doctor.Syscalls, doctor.Canaries, doctor.Persistence},
	}).Full(t.Context())
	got := map[string]doctor.Check{}
	for _, c := range report.Checks {
		if c.Language != "" {
			got[string(c.Language)+": "+c.Name] = c
		}
	}
	for _, language := range []string{"python", "bash"} {
		for _, name := range []string{
			"privileges", "processes", "mounts", "environment", "host name", "core dumps",
			"file", "settings in /usr", "network", "granted hosts", "environment", "other run", "processes and control groups", "marks of the previous run", "seen from the host",
		} {
			if c := got[language+": "+name]; c.Verdict != doctor.Fail || c.Fix == "" {
				t.Errorf("%s: %s: %+v", language, name, c)
			}
		}
	}
	for _, name := range []string{"python: calls of a program", "python: abstract socket", "python: ports between workspaces", "python: abstract sockets between workspaces", "python: locks between workspaces"} {
		if c := got[name]; c.Verdict != doctor.Fail {
			t.Errorf("%s: %+v", name, c)
		}
	}
	// The checks that ordinary programs work must pass without a sandbox.
	for _, name := range []string{"python: an ordinary program", "bash: an ordinary program"} {
		if c := got[name]; c.Verdict != doctor.Pass {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
