package wasmedge

import (
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// TestTranscript_LogAfterLongOutput_Read finds the entry of the log after long output without a line break, wherever the
// pieces of stdout end.
func TestTranscript_LogAfterLongOutput_Read(t *testing.T) {
	t.Parallel()
	const entry = `[2026-11-26 10:00:00.000] [error] execution failed: call stack exhausted, Code: 0x8f`
	for _, size := range []int{1, 7, 4 << 10, 32 << 10} {
		s := &transcript{limits: runtimes.DefaultLimits()}
		for piece := range slices.Chunk([]byte(strings.Repeat("[1,", 5000)+entry+strings.Repeat("20, ", 10_000)+"\nend"), size) {
			s.listen(frames.Stdout, piece)
		}
		code := 134
		if result := s.interpret(frames.Result{ExitCode: &code}); result.Error == nil || result.Error.Type != runtimes.RecursionLimit {
			t.Errorf("pieces of %d bytes: %+v", size, result.Error)
		}
	}
}
