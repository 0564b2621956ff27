package main_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bash"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/node"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// profileVar names the output file for the statements that ran in jails, in the format of go test -coverprofile.
const profileVar = "ATELIER_TEST_JAIL_PROFILE"

const measured = "./runtimes/frames,./runtimes/sandbox/..."

// TestStatementsInJails runs programs with every kind of end in jails whose binary counts its statements. It fails if a
// jail cannot be set up or reports nothing. make cover checks the percentages.
func TestStatementsInJails(t *testing.T) {
	t.Parallel()
	exe := build(t)
	log := &ledger{}
	box := sandboxtest.New(t, exe)
	for _, filter := range []sandbox.Filter{sandbox.FilterProgram, sandbox.FilterWorker} {
		for _, proc := range []bool{true, false} {
			profile := sandbox.Profile{Role: "look", Filter: filter, Proc: proc, Limits: runtimes.DefaultLimits()}
			if filter == sandbox.FilterProgram {
				profile.Mounts = []sandbox.Mount{{Host: "/usr", Path: "/usr"}}
			}
			jail, err := box.Prepare(t.Context(), profile)
			if err != nil {
				t.Fatal(err)
			}
			if err := frames.NewWriter(jail.Conn()).Write(frames.Job, nil); err != nil {
				t.Fatal(err)
			}
			log.add(jail.Wait().Stderr)
		}
	}
	if len(log.counters) != 4 {
		t.Fatalf("%d of 4 jails told what ran", len(log.counters))
	}
	t.Run("jails that cannot be", func(t *testing.T) { prepareImpossible(t, box, log) })
	t.Run("jobs that cannot be", func(t *testing.T) { runImpossible(t, box, log) })
	t.Run("without landlock", func(t *testing.T) { runWithout(t, exe, log, sandbox.Landlock) })
	t.Run("programs", func(t *testing.T) { runPrograms(t, worker.FromSandbox(box), log) })
	if len(log.counters) < 20 {
		t.Errorf("%d jails told what ran", len(log.counters))
	}
	if out := os.Getenv(profileVar); out != "" {
		log.profile(t, exe, out)
	}
}

func runPrograms(t *testing.T, jailer worker.Jailer, log *ledger) {
	proxy := egress.New(egress.Options{})
	engines := []struct {
		runtime interface {
			runtimes.Runtime
			Close()
		}
		programs runtimetest.Programs
		sources  map[string]string
	}{
		{
			bash.New(bash.Options{Jailer: jailer, Egress: proxy, Interpreter: "/usr/bin/bash", Idle: 1}),
			runtimetest.Programs{Language: runtimes.Bash, Runtime: runtimes.BashEngine, Entrypoint: "main.sh"},
			map[string]string{
				"granted a host": "exec 9<>/dev/tcp/127.0.0.1/1; echo 1", "result in a file": "cat >\"$OUTPUT\"", "result on stdout": "echo 1", "no result": ":", "fails": "false; exit 3", "syntax": "if",
				"calls": "atelier log info hello n=1; atelier progress 1 2 half; atelier call nope {}", "killed": "kill -9 $$", "stderr": "echo x >&2",
				"result is a link": "ln -s /etc/passwd \"$OUTPUT\"", "result is a folder": "mkdir \"$OUTPUT\"", "result is gone with its folder": "rm -r .atelier; ln -s /etc .atelier",
				"result is too large": "head -c 3M /dev/zero >\"$OUTPUT\"", "result is no JSON": "echo nope >\"$OUTPUT\"", "result is a hard link": "echo 1 >x; ln x \"$OUTPUT\"",
				"daemon": "(setsid sleep 60 &)\nsetsid sleep 60 & echo 1", "orphans": "(sleep 0.01 & sleep 0.01 &) ; sleep 0.05; echo 1", "pipe held open": "sleep 60 & disown; echo 1",
				"nonsense to the host": "printf '%s\\n' nonsense '{\"call\":7}' '[]' >&\"$__atelier_host\"; echo 1", "long line to the host": "head -c 3M /dev/zero >&\"$__atelier_host\"; echo 1",
				"much output": "seq 20000", "closes everything": "exec >&- 2>&-; eval \"exec $__atelier_host>&-\"; sleep 0.05", "limits": "ulimit -a; echo 1",
				"many processes": "for i in $(seq 80); do sleep 1 & done 2>/dev/null; echo 1", "result is empty": ": >\"$OUTPUT\"", "full disk": "head -c 100M /dev/zero >x; echo 1",
			},
		},
		{
			python.New(python.Options{Jailer: jailer, Egress: proxy, Interpreter: "/usr/bin/python3", Idle: 1}),
			runtimetest.Programs{Language: runtimes.Python, Runtime: runtimes.PythonEngine, Entrypoint: "main.py"},
			map[string]string{
				"granted a host": "import urllib.request\ndef main(): return urllib.request.urlopen('http://127.0.0.1:1/').status\n",
				"result":         "def main(input, ctx): return input", "calls": "def main(input, ctx):\n    ctx.log('info', 'x'); ctx.progress(1, 2); return ctx.call('nope')\n",
				"raises": "def main(): raise ValueError('x')", "leaves": "import os\ndef main(): os._exit(4)", "crashes": "import os\ndef main(): os.abort()",
				"large": "def main(): return 'x' * 3_000_000", "nonsense": "import os\ndef main():\n    os.write(3, b'x' * 3000000 + b'\\n{}\\n[[\\n'); return 1\n",
				"huge end":          "import os\ndef main():\n    os.write(3, b'{\"end\":{\"output\":\"' + b'x' * 3000000 + b'\"}}\\n'); os._exit(0)\n",
				"output in between": "def main(input, ctx):\n    for i in range(50): print(i); ctx.log('info', str(i))\n", "closes the channel": "import os\ndef main(): os.close(3)",
				"forks": "import os, time\ndef main():\n    for _ in range(5):\n        if os.fork() == 0:\n            os.setsid(); time.sleep(60)\n    return 1\n",
			},
		},
		{
			node.New(node.Options{Jailer: jailer, Egress: proxy, Interpreter: "/usr/bin/node", Idle: 1}),
			runtimetest.Programs{Language: runtimes.JavaScript, Runtime: runtimes.NodeEngine, Entrypoint: "main.js"},
			map[string]string{
				"result": "export default (input) => input", "calls": "export default (_, ctx) => { console.log(1); ctx.log('x') }", "raises": "export default () => { throw 1 }",
				"leaves": "export default () => process.exit(3)", "crashes": "export default () => process.abort()", "memory": "export default () => { const all = []; for (;;) all.push([all.length]) }",
				"continues after its end": "import fs from 'fs'\nexport default () => { fs.writeSync(3, '{\"end\":{},\"code\":0}\\n'); return new Promise(() => setInterval(() => {}, 1)) }",
			},
		},
	}
	for _, engine := range engines {
		for name, source := range engine.sources {
			job := engine.programs.Job(source, func(j *runtimes.Job) {
				j.Files["lib/deep/data.txt"] = []byte("x")
				j.Environment = map[string]string{"UNITS": "metric"}
				j.Limits.TimeoutMs = 20_000
				if strings.HasPrefix(name, "granted") {
					j.Capabilities.Hosts = []string{"127.0.0.1:1"}
				}
			})
			host := runtimetest.NewHost()
			if _, err := engine.runtime.Run(t.Context(), job, host); err != nil {
				t.Errorf("%s: the server failed: %v", name, err)
			}
			log.add(host.Stderr(t))
		}
		engine.runtime.Close()
	}
}

// prepareImpossible prepares jails that end during their set-up. The error must contain their last output.
func prepareImpossible(t *testing.T, box *sandbox.Sandbox, log *ledger) {
	look := sandbox.Profile{Role: "look", Filter: sandbox.FilterProgram, Limits: runtimes.DefaultLimits(), Mounts: []sandbox.Mount{{Host: "/usr", Path: "/usr"}}}
	for name, change := range map[string]func(*sandbox.Profile){
		"a role that is not":      func(p *sandbox.Profile) { p.Role = "nobody" },
		"a mount of nothing":      func(p *sandbox.Profile) { p.Mounts[0].Host = "/nowhere" },
		"a mount where files are": func(p *sandbox.Profile) { p.Mounts[0].Path = "/etc/hosts" },
		"a fork server that is not": func(p *sandbox.Profile) {
			p.Role, p.Launcher, p.Forks = program.Name, "forks", &sandbox.Command{Argv: []string{"/nowhere"}}
		},
		"a fork server without a word": func(p *sandbox.Profile) {
			p.Role, p.Launcher, p.Forks = program.Name, "forks", &sandbox.Command{Argv: []string{"/usr/bin/true"}}
		},
	} {
		profile := look
		profile.Mounts = slices.Clone(look.Mounts)
		change(&profile)
		before := len(log.counters)
		_, err := box.Prepare(t.Context(), profile)
		if err == nil {
			t.Fatalf("%s: there is a jail", name)
		}
		if log.add(err.Error()); len(log.counters) == before {
			t.Errorf("%s: it did not tell what ran: %v", name, err)
		}
	}
}

// runWithout runs a program on a host that lacks a mechanism.
func runWithout(t *testing.T, exe string, log *ledger, mechanism string) {
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: exe, Without: []string{mechanism}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	engine := bash.New(bash.Options{Jailer: worker.FromSandbox(box), Egress: egress.New(egress.Options{}), Interpreter: "/usr/bin/bash", Idle: 1})
	defer engine.Close()
	host := runtimetest.NewHost()
	job := runtimetest.Programs{Language: runtimes.Bash, Runtime: runtimes.BashEngine, Entrypoint: "main.sh"}.Job("echo 1")
	if outcome, err := engine.Run(t.Context(), job, host); err != nil || outcome.Error != nil {
		t.Fatal(err, outcome.Error)
	}
	log.add(host.Stderr(t))
}

// runImpossible sends jobs that no server sends, and disconnects. The jail must end each time.
func runImpossible(t *testing.T, box *sandbox.Sandbox, log *ledger) {
	json := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	bash, files := []string{"/usr/bin/bash", "-c", "cat"}, map[string][]byte{"x": []byte("x")}
	type frame struct {
		kind    frames.Kind
		payload []byte
	}
	shell := func(script string) []frame {
		return []frame{{frames.Job, json(program.Job{Argv: []string{"/usr/bin/bash", "-c", script}})}}
	}
	// These messages go to a server that has disconnected, which the jail notices when it writes.
	never := map[string]bool{"a start that nobody hears": true, "a refusal that nobody hears": true, "a readiness that nobody hears": true}
	deaf := map[string]bool{"output that nobody hears": true, "errors that nobody hears": true, "a call that nobody hears": true, "an end that nobody hears": true}
	for name, sent := range map[string][]frame{
		"output that nobody hears":      shell("sleep 0.1; while :; do echo x; done"),
		"errors that nobody hears":      shell("sleep 0.1; while :; do echo x >&2; done"),
		"a call that nobody hears":      shell(`sleep 0.1; echo x; echo '{"call":"log"}' >&3; sleep 60`),
		"an end that nobody hears":      shell("sleep 0.1"),
		"an answer to nobody":           shell("exec 3>&-; echo x; sleep 0.1"),
		"a start that nobody hears":     shell("sleep 1"),
		"a refusal that nobody hears":   {{frames.Job, json(program.Job{Argv: bash, Files: map[string][]byte{"x": make([]byte, 20<<20)}})}},
		"a readiness that nobody hears": {{frames.Job, json(program.Job{Ahead: true, Argv: []string{"/usr/bin/bash", "-c", `echo '{"ready":true}' >&3; sleep 1`}})}},
		"another frame":                 {{frames.Reply, []byte("{}")}},
		"no JSON":                       {{frames.Job, []byte("{")}},
		"no program":                    {{frames.Job, []byte("{}")}},
		"a program by its name":         {{frames.Job, json(program.Job{Argv: []string{"bash"}})}},
		"a program that is not":         {{frames.Job, json(program.Job{Argv: []string{"/usr/bin/nowhere"}})}},
		"a file out of the box":         {{frames.Job, json(program.Job{Argv: bash, Files: map[string][]byte{"../x": nil}})}},
		"a file beneath a file":         {{frames.Job, json(program.Job{Argv: bash, Files: map[string][]byte{"x": nil, "x/y": nil}})}},
		"input that is not":             {{frames.Job, json(program.Job{Argv: bash, Files: files, Stdin: "y"})}},
		"files beyond the disk":         {{frames.Job, json(program.Job{Argv: bash, Files: map[string][]byte{"x": make([]byte, 20<<20)}})}},
		"ahead, and no program":         {{frames.Job, json(program.Job{Ahead: true})}},
		"ahead, and gone":               {{frames.Job, json(program.Job{Ahead: true, Argv: []string{"/usr/bin/false"}})}},
		"ahead, gone when ready":        {{frames.Job, json(program.Job{Ahead: true, Argv: []string{"/usr/bin/bash", "-c", `echo '{"ready":true}' >&3; sleep 0.05`}})}},
		"a hello that nobody reads":     {{frames.Job, append(json(program.Job{Argv: []string{"/usr/bin/true"}}), "\n{}"...)}},
		"an answer, unasked":            {{frames.Job, json(program.Job{Argv: []string{"/usr/bin/bash", "-c", "read -r x <&3; echo $x"}, Files: files})}, {frames.Reply, []byte("{}")}, {frames.Interrupt, nil}},
	} {
		profile := sandbox.Profile{
			Role: program.Name, Filter: sandbox.FilterProgram, Proc: true, DiskBytes: 8 << 20,
			Mounts: []sandbox.Mount{{Host: "/usr", Path: "/usr"}}, Limits: runtimes.DefaultLimits(), Launcher: "impossible",
		}
		jail, err := box.Prepare(t.Context(), profile)
		if err != nil {
			t.Fatal(err)
		}
		out, in := frames.NewWriter(jail.Conn()), frames.NewReader(jail.Conn(), map[frames.Kind]int{
			frames.Ready: 0, frames.Started: 0, frames.Stdout: frames.MaxFrame, frames.Stderr: frames.MaxFrame, frames.CallReq: frames.MaxFrame, frames.Part: frames.MaxFrame, frames.Done: frames.MaxFrame,
		})
		conn, ok := jail.Conn().(*net.UnixConn)
		if !ok {
			t.Fatalf("the connection is a %T", jail.Conn())
		}
		if never[name] {
			if err := conn.CloseRead(); err != nil {
				t.Error(err)
			}
		}
		for _, f := range sent {
			if err := out.Write(f.kind, f.payload); err != nil {
				t.Logf("%s: %v", name, err) // it has disconnected first
			}
		}
		var stderr []byte
		for kind := frames.Kind(0); kind != frames.Done; {
			var payload []byte
			if kind, payload, err = in.Read(); err != nil {
				break
			}
			if kind == frames.Stderr {
				stderr = append(stderr, payload...)
			}
			switch {
			case deaf[name] && kind == frames.Started:
				if err := conn.CloseRead(); err != nil {
					t.Error(err)
				}
			case name == "an answer to nobody" && kind == frames.Stdout:
				if err := out.Write(frames.Reply, []byte("{}")); err != nil {
					t.Error(err)
				}
			}
		}
		if deaf[name] || never[name] {
			<-jail.Done()
		}
		jail.Kill()
		jail.Wait()
		log.add(string(stderr))
	}
}

// build makes the binary with counters. The binaries of other tests cannot have counters, because servers see their
// stderr.
func build(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "atelier-cover-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "covertest")
	cmd := exec.Command("go", "build", "-trimpath", "-cover", "-covermode=atomic", "-coverpkg="+measured, "-o", exe, "./runtimes/sandbox/sandboxtest/covertest")
	cmd.Dir = filepath.Join("..", "..", "..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return exe
}

// ledger stores the reports of jails at their end.
type ledger struct {
	mu       sync.Mutex
	counters [][]byte
}

func (l *ledger) add(stderr string) {
	_, rest, found := strings.Cut(stderr, "\nCOUNTERS ")
	line, _, whole := strings.Cut(rest, "\n")
	counters, err := base64.StdEncoding.DecodeString(line)
	if !found || !whole || err != nil {
		return // it was killed before its end
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counters = append(l.counters, counters)
}

// profile writes the merged report of all jails, with the tool that reads such files.
func (l *ledger) profile(t *testing.T, exe, out string) {
	t.Helper()
	dir := t.TempDir()
	meta, err := exec.Command(exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	const hashAt, hashSize = 24, 16 // after magic, version, length and number of packages
	if len(meta) < hashAt+hashSize {
		t.Fatalf("%d bytes describe the counters", len(meta))
	}
	hash := hex.EncodeToString(meta[hashAt : hashAt+hashSize])
	files := map[string][]byte{"covmeta." + hash: meta}
	for i, counters := range l.counters {
		files[fmt.Sprintf("covcounters.%s.1.%d", hash, i+1)] = counters
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}
