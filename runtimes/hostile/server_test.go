package hostile_test

import (
	"context"
	"os"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bash"
	"github.com/atelier-run/atelier/runtimes/goja"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/node"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// These constants number the host users of the servers in these tests. They differ from the users of a server on this
// machine and of the same tests in another process. Otherwise the sandboxes of these would count as survivors.
const (
	firstUser  = 1_000_000
	users      = 64
	ofAProcess = 16 * users
	processMax = 4096
)

func firstOf(number int) int { return firstUser + os.Getpid()%processMax*ofAProcess + number*users }

// server is one engine with a real sandbox.
type server struct {
	language runtimes.Language
	runtimes.Runtime
	programs runtimetest.Programs
	firstUID int
	waiting  int // maximum number of sandboxes while nothing runs
	each     int // processes in each sandbox
}

type engine interface {
	runtimes.Runtime
	Warm(ctx context.Context) error
	Close()
}

// These constants number the servers in the order of their users.
const (
	javascriptServer = iota
	typescriptServer
	pythonServer
	bashServer
	nodeServer
	controlServer // the first of several numbers for controls
	pathsServer   = controlServer + 6
)

// open starts a server for one language. At the end of the test it checks that nothing of the server remains.
func open(t *testing.T, language runtimes.Language, number int, edit ...func(*sandbox.Options)) *server {
	t.Helper()
	readFresh()
	h := &server{language: language, firstUID: firstOf(number), waiting: 4, each: 1}
	options := sandbox.Options{Exe: guests(t), UIDBase: h.firstUID, UIDCount: users}
	for _, change := range edit {
		change(&options)
	}
	box, err := sandbox.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if level := box.Level(); level.Level == sandbox.LevelNone {
		t.Fatalf("this host cannot run a sandbox: %v", level.Missing)
	}
	engine := h.engine(worker.FromSandbox(box))
	t.Cleanup(func() {
		engine.Close()
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		h.gone(t)
	})
	if err := engine.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Runtime = engine
	return h
}

func (h *server) engine(jailer worker.Jailer) engine {
	h.programs = runtimetest.Programs{Language: h.language}
	switch h.language {
	case runtimes.Python:
		h.each = 2    // the launcher and its fork server
		h.waiting = 8 // two fork servers with two children each, and one more that has crashed and has no children left
		h.programs.Runtime, h.programs.Entrypoint = runtimes.PythonEngine, "main.py"
		h.programs.Hello = "def main(name):\n    return f'Hello, {name}'\n"
		return python.New(python.Options{Jailer: jailer, Interpreter: "/usr/bin/python3"})
	case runtimes.Bash:
		h.programs.Runtime, h.programs.Entrypoint = runtimes.BashEngine, "main.sh"
		h.programs.Hello = "[[ $(cat) =~ \\\"name\\\":\\\"([^\\\"]*)\\\" ]]\necho \"\\\"Hello, ${BASH_REMATCH[1]}\\\"\" >\"$OUTPUT\"\n"
		return bash.New(bash.Options{Jailer: jailer, Interpreter: "/usr/bin/bash"})
	case hostile.Node:
		h.waiting = 12 // two waiting sandboxes, those of reused programs, the bundler, and the launchers
		h.programs = runtimetest.Programs{Language: runtimes.JavaScript, Runtime: runtimes.NodeEngine, Entrypoint: "main.js"}
		h.programs.Hello = "export default ({ name }) => `Hello, ${name}`"
		return node.New(node.Options{Jailer: jailer, Interpreter: "/usr/bin/node"})
	case runtimes.TypeScript:
		h.programs.Runtime, h.programs.Entrypoint = runtimes.Goja, "main.ts"
		h.programs.Hello = "export default ({ name }: { name: string }): string => `Hello, ${name}`"
	default:
		h.programs.Runtime, h.programs.Entrypoint = runtimes.Goja, "main.js"
		h.programs.Hello = "export default ({ name }) => `Hello, ${name}`"
	}
	return goja.New(goja.Options{Jailer: jailer})
}

// hello runs a harmless program after an attack. It must succeed.
func (h *server) hello(t *testing.T) {
	t.Helper()
	outcome, host := runtimetest.Run(t, h, h.programs.Job(h.programs.Hello))
	if outcome.Error != nil || string(outcome.Output) != `"Hello, Ada"` {
		t.Errorf("the next run: %s, %+v\nstderr %.500s", outcome.Output, outcome.Error, host.Stderr(t))
	}
	if outcome.Usage.Run <= 0 || outcome.Level == "" {
		t.Errorf("the next run: usage %+v, level %q", outcome.Usage, outcome.Level)
	}
}
