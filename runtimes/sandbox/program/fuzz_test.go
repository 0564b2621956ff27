package program_test

import (
	"encoding/json"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// FuzzLine checks lines that a program sends to its launcher: an exit code that CodeOf finds must equal the code that a
// JSON parser finds.
func FuzzLine(f *testing.F) {
	for _, line := range []string{
		`{"end":{"output":1},"code":0}`, `{"end":{"output":{"a":1,"code":5}}}`, `{"call":"fetch","args":{"url":"x"},"tag":7}`, `{"tag":1,"call":`,
		`{"kept":"AAAA"}`, `{"end":{},"code":256}`, `{"end":"\",\"code\":5}"}`, `[{"tag":9}]`, `{"tag":1e99}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		code := program.CodeOf(line)
		program.TagOf(line)
		var m program.Message
		if json.Unmarshal(line, &m) == nil && code != nil && (m.Code == nil || *m.Code != *code) {
			t.Fatalf("code %d of %q", *code, line)
		}
	})
}

// FuzzReport calls Conclude with arbitrary last messages, because a program can write every byte of them. The result must
// have either an output or an error.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"end":{"output":[1]}}`), []byte(nil), 0)
	f.Add([]byte(`{"ahead":true}`), []byte(`{"end":{"output":{"a":1}},"code":0}`), 9)
	f.Add([]byte(`{"ahead":true,"kept":"AA=="}`), []byte(`{"end":{"error":{"type":"interrupted","file":"/etc/passwd","line":1}}}`), 0)
	f.Add([]byte(`{"huge":true}`), []byte(`{"end"`), 11)
	f.Fuzz(func(t *testing.T, stats, parts []byte, signal int) {
		crash := func(int) *runtimes.ProgramError { return &runtimes.ProgramError{Type: runtimes.RuntimeError} }
		result, report := program.Conclude(frames.Result{Stats: stats, Parts: parts, Signal: signal}, crash)
		if result.Error != nil && result.Output != nil {
			t.Fatalf("an output %q and an error %+v", result.Output, result.Error)
		}
		if result.Output != nil && !json.Valid(result.Output) {
			t.Fatalf("the output is %q", result.Output)
		}
		program.ReadFile(result, report, 1<<10)
	})
}
