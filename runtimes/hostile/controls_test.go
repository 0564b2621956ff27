package hostile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"
	"mvdan.cc/sh/v3/syntax"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// TestHostileControls runs an attack of every class without its protection, and checks that it succeeds. Otherwise the
// attack would be no test of the protection. A limit is raised, and a protection that can be disabled is disabled. In
// all other cases the program runs without a sandbox, in a temporary folder and with canaries of its own.
func TestHostileControls(t *testing.T) {
	t.Parallel()
	controls := map[hostile.Class]func(*testing.T){
		hostile.CPU: limitLifted(limited{
			runtimes.Python, "import time\ndef main():\n    while time.process_time() < 1.2: pass\n    return 'through'\n", runtimes.Timeout,
			func(l *runtimes.Limits) { l.CPUMs = 300 }, func(l *runtimes.Limits) { l.CPUMs = 30_000 },
		}),
		hostile.Memory: limitLifted(limited{
			runtimes.Python, "def main():\n    x = bytearray(200 << 20)\n    return 'through'\n", runtimes.MemoryLimit,
			func(l *runtimes.Limits) { l.MemoryBytes, l.DiskBytes = 64<<20, 8<<20 }, func(l *runtimes.Limits) { l.MemoryBytes, l.DiskBytes = 400<<20, 8<<20 },
		}),
		hostile.Processes: limitLifted(limited{
			runtimes.Python, "import os, time\ndef main():\n    for _ in range(40):\n        if os.fork() == 0:\n            time.sleep(30)\n            os._exit(0)\n    return 'through'\n", runtimes.ProcessLimit,
			func(l *runtimes.Limits) { l.Processes = 16 }, func(l *runtimes.Limits) { l.Processes = 100 },
		}),
		hostile.Output: limitLifted(limited{
			runtimes.JavaScript, "export default () => { for (let i = 0; i < 300; i++) console.log('x'.repeat(10000)); return 'through' }", runtimes.OutputLimit,
			func(l *runtimes.Limits) { l.OutputBytes = 1 << 20 }, func(l *runtimes.Limits) { l.OutputBytes = 8 << 20 },
		}),
		hostile.Disk: limitLifted(limited{
			runtimes.Bash, "set -e\nhead -c 20M /dev/zero >/tmp/x\necho '\"through\"'", runtimes.DiskLimit,
			func(l *runtimes.Limits) { l.DiskBytes = 8 << 20 }, func(l *runtimes.Limits) { l.DiskBytes = 64 << 20 },
		}),
		hostile.Files: limitLifted(limited{
			runtimes.Python, "def main():\n    for i in range(5000): open(f'/tmp/{i}', 'w').close()\n    return 'through'\n", runtimes.DiskLimit,
			func(l *runtimes.Limits) { l.DiskBytes = 8 << 20 }, func(l *runtimes.Limits) { l.DiskBytes = 256 << 20 },
		}),
		hostile.HostFiles: func(t *testing.T) {
			c := plant(t)
			found := outside(t, c, "host_files")
			if !slices.Contains(found, c.file) || !slices.Contains(found, "writes "+c.file) {
				t.Errorf("found %q", found)
			}
		},
		hostile.Secrets: func(t *testing.T) {
			found := outside(t, plant(t), "secrets")
			if !slices.Contains(found, secretVar) || !slices.Contains(found, "memory") {
				t.Errorf("found %q", found)
			}
		},
		hostile.OtherRuns:   neighbourSeen,
		hostile.Network:     calledHome,
		hostile.Kernel:      seccompMasked,
		hostile.Signals:     daemonLives,
		hostile.ParserBombs: parsersDie,
		hostile.Forging:     linkFollowed,
		hostile.Terminal:    escapesArrive,
	}
	for _, class := range hostile.Classes() {
		t.Run(string(class), func(t *testing.T) {
			control, ok := controls[class]
			if !ok {
				t.Fatal("a class without a control")
			}
			defer func() { matrix.Control(class, !t.Failed()) }()
			control(t)
		})
	}
}

// limited is a program that a tight limit stops and that succeeds under a loose one.
type limited struct {
	language     runtimes.Language
	source       string
	want         runtimes.ErrorType
	tight, loose func(*runtimes.Limits)
}

func limitLifted(l limited) func(*testing.T) {
	return func(t *testing.T) {
		h := open(t, l.language, controlServer)
		limits := func(change func(*runtimes.Limits)) func(*runtimes.Job) {
			return func(j *runtimes.Job) { change(&j.Limits) }
		}
		if outcome, _ := runtimetest.Run(t, h, h.programs.Job(l.source, limits(l.tight))); outcome.Error == nil || outcome.Error.Type != l.want {
			t.Errorf("with the limit: %s, %+v, want %s", outcome.Output, outcome.Error, l.want)
		}
		if outcome, _ := runtimetest.Run(t, h, h.programs.Job(l.source, limits(l.loose))); string(outcome.Output) != `"through"` {
			t.Errorf("without: %s, %+v", outcome.Output, outcome.Error)
		}
	}
}

// outside runs a Python program of the catalogue without a sandbox and returns its findings.
func outside(t *testing.T, c *canaries, name string, extra ...string) []string {
	t.Helper()
	text, err := command(t, c, name, extra...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return found
}

func command(t *testing.T, c *canaries, name string, extra ...string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".py")
	if err := os.WriteFile(file, []byte(attacks.Source(runtimes.Python, name)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/usr/bin/python3", "-I", "-B", "-c",
		"import json, runpy, sys; print(json.dumps(runpy.run_path(sys.argv[1])['main'](None, None)), flush=True)", file)
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	cmd.Env = append(os.Environ(), extra...)
	for key, value := range c.environment {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	return cmd
}

func neighbourSeen(t *testing.T) {
	c := plant(t)
	alongside := command(t, c, "leave_marks")
	out, err := alongside.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := alongside.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = alongside.Process.Kill()
		_ = alongside.Wait()
		for _, dir := range []string{"/tmp", "/dev/shm", "/var/tmp", "/usr"} {
			_ = os.Remove(filepath.Join(dir, c.environment["MARK"]))
		}
	}()
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	found := outside(t, c, "other_runs")
	for _, want := range []string{"/tmp/" + c.environment["MARK"], "abstract socket"} {
		if !slices.Contains(found, want) {
			t.Errorf("found %q, want %q", found, want)
		}
	}
}

func calledHome(t *testing.T) {
	c := plant(t)
	// A DNS lookup is a datagram. If datagrams reach the canary, a lookup would reach a resolver.
	found := outside(t, c, "network")
	for _, want := range []string{"tcp", "udp", "unix", "abstract"} {
		if !slices.Contains(found, want) {
			t.Errorf("found %q, want %s", found, want)
		}
	}
	// The program may end before the canary has accepted its connections.
	for deadline := time.Now().Add(remainsTimeout); c.heard.Load() < 3; <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the canaries received only %d connections", c.heard.Load())
		}
	}
}

func seccompMasked(t *testing.T) {
	h := open(t, runtimes.Python, controlServer+1, func(o *sandbox.Options) {
		o.Without, o.AllowWeak = []string{sandbox.Seccomp}, []string{sandbox.Seccomp}
	})
	outcome, host := runtimetest.Run(t, h, h.job(t, attack{mute: true}, "kernel", plant(t)))
	var found []string
	if outcome.Error != nil || json.Unmarshal(outcome.Output, &found) != nil || len(found) < 3 || !slices.Contains(found, "AF_UNIX") || !slices.Contains(found, "inotify_init1") {
		t.Errorf("%s, %+v: %s", outcome.Output, outcome.Error, host.Stderr(t))
	}
	if !strings.Contains(outcome.Level, sandbox.Seccomp) {
		t.Errorf("the run does not report the missing protection: %s", outcome.Level)
	}
}

func daemonLives(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	cmd := command(t, plant(t), "daemon", "PIDFILE="+file)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd.Stdout, cmd.Stderr = null, null // the daemon would keep a pipe open
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for deadline := time.Now().Add(remainsTimeout); pid == 0 && time.Now().Before(deadline); <-time.After(time.Millisecond) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, _ = strconv.Atoi(string(text)) // the file may be incomplete at this moment
	}
	if pid == 0 {
		t.Fatal("no daemon")
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, 0} {
		if err := syscall.Kill(pid, signal); err != nil {
			t.Errorf("the daemon ended with its parent or by signal %d: %v", signal, err)
		}
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// parsers parse a text in this process, without the protections of the server.
var parsers = map[string]func(string){
	"esbuild": func(text string) { api.Transform(text, api.TransformOptions{}) },
	"goja":    func(text string) { _, _ = parser.ParseFile(nil, "x.js", text, 0, parser.WithDisableSourceMaps) },
	"shell":   func(text string) { _, _ = syntax.NewParser().Parse(strings.NewReader(text), "x.sh") },
}

func parsersDie(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, bomb := range map[string]string{
		"esbuild": strings.Repeat("[", 1_000_000), "goja": strings.Repeat("(", 1_000_000), "shell": strings.Repeat("$(", 1_000_000),
	} {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), parserVar+"="+name)
		cmd.Stdin = strings.NewReader(bomb)
		text, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(text), "stack") {
			t.Errorf("%s survives: %v, %.200s", name, err, text)
		}
	}
}

// linkFollowed checks that reading a result without protection follows a link to the canary.
func linkFollowed(t *testing.T) {
	c := plant(t)
	dir := t.TempDir()
	result := filepath.Join(dir, "output.json")
	cmd := exec.Command("/usr/bin/bash", "--noprofile", "--norc", "-c", `ln -s "$CANARY" "$OUTPUT"`)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "CANARY=" + c.file, "OUTPUT=" + result}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if text, err := os.ReadFile(result); err != nil || string(text) != `"canary"` {
		t.Errorf("%s, %v", text, err)
	}
	h := open(t, runtimes.Bash, controlServer)
	outcome, _ := runtimetest.Run(t, h, h.job(t, attack{source: `ln -s "$CANARY" "$OUTPUT"`, mute: true}, "", c))
	if outcome.Error == nil || outcome.Error.Type != runtimes.InvalidOutput {
		t.Errorf("in the sandbox: %s, %+v", outcome.Output, outcome.Error)
	}
}

// escapesArrive checks that escape sequences in a program's output reach a terminal if nothing removes them.
func escapesArrive(t *testing.T) {
	h := open(t, runtimes.Bash, controlServer)
	outcome, host := runtimetest.Run(t, h, h.programs.Job("printf '\\e]0;owned\\a'"))
	if outcome.Error != nil {
		t.Fatal(outcome.Error)
	}
	if careless := fmt.Sprint(host.Stdout(t)); !strings.Contains(careless, "\x1b]0;owned\a") {
		t.Errorf("%q", careless)
	}
}
