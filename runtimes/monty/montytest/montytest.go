// Package montytest finds the Monty interpreter for tests.
package montytest

import (
	"os"
	"path/filepath"
	"testing"
)

// Program returns the path of the interpreter that scripts/monty.sh installs. It skips the test if there is none.
func Program(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "bin", "monty")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	tb.Skip("the Monty interpreter is missing; run scripts/monty.sh")
	return ""
}
