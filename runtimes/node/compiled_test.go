package node

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestCompiled_LargeProgram_UsedByTheNextRun exchanges V8's forms of two programs of one length, which V8 cannot tell apart.
// A run that gives the other program's value has used the form. A form that V8 rejects does no harm.
func TestCompiled_LargeProgram_UsedByTheNextRun(t *testing.T) {
	t.Parallel()
	engine := New(Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t))), Interpreter: "/usr/bin/node"})
	t.Cleanup(engine.Close)
	if err := engine.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	source := func(value string) string {
		return "const value = " + value + ";\nexport default () => value;\nexport const rest = \"" + strings.Repeat("x", minCompiled) + "\";\n"
	}
	run := func(value, want string) {
		t.Helper()
		outcome, _ := runtimetest.Run(t, engine, runtimetest.JavaScript().Job(source(value)))
		if outcome.Error != nil || string(outcome.Output) != want {
			t.Errorf("%s gives %s, %+v", value, outcome.Output, outcome.Error)
		}
	}
	key := func(value string) string {
		job := runtimetest.JavaScript().Job(source(value))
		bundled, _, err := engine.Bundle(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		return compiledKey(job, bundled.Code)
	}
	run("1", "1")
	one, ok := engine.compiled.Get(key("1"))
	if !ok {
		t.Fatal("the form of the first program was not kept")
	}
	engine.compiled.Put(key("2"), one, len(one))
	run("2", "1")
	engine.compiled.Put(key("3"), []byte("no form"), 7)
	run("3", "3")
}

// TestCompiled_ForgedForm_NotKept: a program sends a form of its own. The guest script has sent one before, even if V8's form
// is larger than what is kept.
func TestCompiled_ForgedForm_NotKept(t *testing.T) {
	t.Parallel()
	engine := New(Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t))), Interpreter: "/usr/bin/node"})
	t.Cleanup(engine.Close)
	if err := engine.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{minCompiled, 800_000} {
		job := runtimetest.JavaScript().Job("import fs from \"node:fs\";\nfs.writeSync(3, '{\"kept\":\"Zm9yZ2Vk\"}\\n');\nexport default () => rest.length;\nexport const rest = \"" + strings.Repeat("x", size) + "\";\n")
		if outcome, _ := runtimetest.Run(t, engine, job); outcome.Error != nil {
			t.Errorf("%d: %+v", size, outcome.Error)
		}
		bundled, _, err := engine.Bundle(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if form, _ := engine.compiled.Get(compiledKey(job, bundled.Code)); string(form) == "forged" {
			t.Errorf("the form of a program with %d bytes is its own", size)
		}
	}
}

// TestCompiled_SmallOrUnnamedProgram_NotKept: a program without a digest or a workspace has no key.
func TestCompiled_SmallOrUnnamedProgram_NotKept(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", minCompiled)
	for _, job := range []runtimes.Job{{}, {CodeDigest: "sha256:1"}, {Workspace: "w"}} {
		if key := compiledKey(job, large); key != "" {
			t.Errorf("%+v has the key %s", job, key)
		}
	}
	if key := compiledKey(runtimes.Job{CodeDigest: "sha256:1", Workspace: "w"}, "x"); key != "" {
		t.Errorf("a small program has the key %s", key)
	}
}
