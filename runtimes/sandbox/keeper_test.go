package sandbox_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// TestSlackOfJails: a server whose threads may wake late has programs that do not.
func TestSlackOfJails(t *testing.T) {
	t.Parallel()
	if got := sandbox.SlackOfJails(1_000_000); got != 50_000 {
		t.Errorf("a jail inherits a slack of %d ns", got)
	}
}
