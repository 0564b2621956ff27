package packages

import (
	"os"
	"strings"
	"testing"
)

// TestWriter_ForgedMessages_Refused: install scripts and builds run in the sandbox of the process that sends messages. What it
// says about archives that do not exist is not kept, and the same progress is not reported again.
func TestWriter_ForgedMessages_Refused(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string]string{
		`{"archive":0}|{"meta":{},"archive":0}|{"archive":1}|{"meta":{},"archive":1}|{"done":true}|`: "",
		`{"archive":1}|{"done":true}|`:            "", // a build of one of two packages
		`{"meta":{},"archive":2}|{"done":true}|`:  "does not exist",
		`{"meta":{},"archive":-1}|{"done":true}|`: "does not exist",
		`{"archive":2}|{"done":true}|`:            "does not exist",
		`{"archive":0}|{"archive":0}|`:            "twice",
		`{"archive":1}|{"archive":0}|`:            "twice",
	} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		w := newWriter(root, 1<<10, 2, func(int) {})
		w.write([]byte(strings.ReplaceAll(stream, "|", "\n")))
		if err := w.close(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, not %q", stream, err, want)
		}
	}
}
