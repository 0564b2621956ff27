package fault_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
)

func TestShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain": "plain", "sixsix": "sixsi…", "äöüßé!": "äöüßé…",
		"\x1b[2J": "\ufffd[2J", "a\r\nb": "a\ufffd\ufffdb", "\u202egp": "\ufffdgp", "\xff": "\ufffd", "\x00": "\ufffd",
	} {
		if got := fault.Shown(text, 5); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
