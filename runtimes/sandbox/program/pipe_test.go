package program_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// TestPipe checks that the started program reads its input and ends at the end of the input.
func TestPipe(t *testing.T) {
	t.Parallel()
	out, in, err := program.Pipe("/bin/cat", "-")
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(in, "one line\n")
	if err = errors.Join(err, in.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(out); err != nil || string(text) != "one line\n" {
		t.Errorf("the program wrote %q, %v", text, err)
	}
	if _, _, err := program.Pipe("/nowhere/program"); err == nil || !strings.Contains(err.Error(), "start /nowhere/program") {
		t.Errorf("a missing program is %v", err)
	}
}

// TestJSON checks that <, & and > are not escaped, and that a value that JSON cannot represent is an error.
func TestJSON(t *testing.T) {
	t.Parallel()
	if text, err := program.JSON("<a&b>"); err != nil || string(text) != `"<a&b>"` {
		t.Errorf("it is %s, %v", text, err)
	}
	if text, err := program.JSON(func() {}); err == nil {
		t.Errorf("a function is %s", text)
	}
}
