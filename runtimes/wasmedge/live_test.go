//go:build live

// Tests against the real WasmEdge. make test does not run them, because WasmEdge is not installed there. Run:
// WASMEDGE_PATH=/path/to/wasmedge go test -tags live ./runtimes/wasmedge
package wasmedge_test

import (
	"os"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestLive runs modules with the real program that WASMEDGE_PATH names.
func TestLive(t *testing.T) {
	t.Parallel()
	path := os.Getenv("WASMEDGE_PATH")
	if path == "" {
		t.Fatal("WASMEDGE_PATH must be set for tests with the tag live")
	}
	const module = "\x00asm\x01\x00\x00\x00\x01\x0c\x02\x60\x04\x7f\x7f\x7f\x7f\x01\x7f\x60\x00\x00\x02\x23\x01\x16wasi_snapshot_preview1\x08fd_write\x00\x00" +
		"\x03\x02\x01\x01\x05\x03\x01\x00\x01\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x01\x0a\x0f\x01\x0d\x00\x41\x01\x41\x00\x41\x01\x41\x0c\x10\x00\x1a\x0b" +
		"\x0b\x18\x01\x00\x41\x00\x0b\x12\x10\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0042"
	engine := newEngine(t, path)
	outcome, host := runtimetest.Run(t, engine, jobOf(module, "{}"))
	if outcome.Error != nil || string(outcome.Output) != "42" {
		t.Errorf("%+v %s %s", outcome.Error, outcome.Output, host.Stderr(t))
	}
	const start, export = "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00", "\x07\x0a\x01\x06_start\x00\x00"
	for failing, want := range map[string]runtimes.ErrorType{
		start + export + "\x0a\x05\x01\x03\x00\x00\x0b":                              runtimes.RuntimeError, // unreachable
		start + "\x05\x05\x01\x00\x80\x80\x02" + export + "\x0a\x04\x01\x02\x00\x0b": runtimes.MemoryLimit,  // declares a memory of 2 GiB
		start + export + "\x0a\x09\x01\x07\x00\x03\x40\x0c\x00\x0b\x0b":              runtimes.Timeout,
		"no module": runtimes.SyntaxError,
	} {
		job := jobOf(failing, "{}", func(j *runtimes.Job) { j.Limits.TimeoutMs = 1000 })
		if outcome, host := runtimetest.Run(t, engine, job); outcome.Error == nil || outcome.Error.Type != want {
			t.Errorf("%+v, want %s, stdout %s", outcome.Error, want, host.Stdout(t))
		}
	}
}
