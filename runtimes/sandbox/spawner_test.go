package sandbox_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

// TestSlackOfJails checks that process 1 of a jail gets a timer slack of 1 ms, whatever slack the server has, and that a
// program gets the default of the kernel.
func TestSlackOfJails(t *testing.T) {
	t.Parallel()
	if got := sandbox.SlackOfJails(50_000); got != 1_000_000 {
		t.Errorf("a jail inherits a slack of %d ns", got)
	}
	c := newChild(t, sandboxtest.New(t, guestsExe(t)), "slack")
	if got := c.begin(t, "cat /proc/self/timerslack_ns"); got != "50000" {
		t.Errorf("a program has a slack of %s ns", got)
	}
}
