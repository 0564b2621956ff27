package child

import (
	"bytes"
	"testing"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// TestSyscallStepsRefuse calls steps of the set-up with invalid arguments. Each must return an error.
func TestSyscallStepsRefuse(t *testing.T) {
	t.Parallel()
	if err := installFilter(wire.Setup{}); err != nil {
		t.Errorf("no filter: %v", err)
	}
	if err := installFilter(wire.Setup{Seccomp: make([]byte, seccomp.InstructionSize-1)}); err == nil {
		t.Error("a truncated filter was installed")
	}
	if err := installFilter(wire.Setup{Seccomp: bytes.Repeat([]byte{0xff}, seccomp.InstructionSize)}); err == nil {
		t.Fatal("an invalid filter was installed") // an installed filter would stay for all later tests
	}
	if err := warmThreads(wire.Setup{Filter: wire.FilterWorker}); err != nil {
		t.Error(err)
	}
	if err := landlock(wire.Setup{}); err != nil {
		t.Errorf("no landlock: %v", err)
	}
	if err := allow(-1, "/nowhere", 0); err == nil {
		t.Error("a rule for a missing path was added")
	}
	if err := allow(-1, "/", 0); err == nil {
		t.Error("a rule was added to an invalid ruleset")
	}
	for version, want := range map[int]struct{ scoped, net bool }{1: {}, 3: {}, 4: {net: true}, 6: {true, true}} {
		attr := RulesFor(wire.Setup{Landlock: version, Filter: wire.FilterWorker})
		if got := attr.Scoped != 0; got != want.scoped || (attr.Handled_access_net != 0) != want.net {
			t.Errorf("version %d restricts %+v", version, attr)
		}
	}
	if _, err := copyTrees(wire.Setup{Mounts: []wire.Mount{{Host: "/nowhere", Path: "/usr"}}}); err == nil {
		t.Error("a missing path was mounted")
	}
	if _, err := copyTrees(wire.Setup{Devices: []string{"/dev/nowhere"}}); err == nil {
		t.Error("a missing device was mounted")
	}
}
