package launcher

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/child"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire/wiretest"
)

// TestForkServersThatSendNothing checks that a fork server that ends during its start, or sends an invalid address, is an
// error.
func TestForkServersThatSendNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reported []string
		sequence []child.Step
	}{
		"nothing":      {},
		"nonsense":     {reported: []string{"{"}},
		"no readiness": {reported: []string{"{}"}},
		"no room":      {reported: []string{"{}", "ready"}, sequence: make([]child.Step, child.MaxCalls)},
	} {
		ours, theirs := wiretest.Pair(t, unix.SOCK_SEQPACKET)
		for _, reported := range tt.reported {
			if _, err := theirs.Write([]byte(reported)); err != nil {
				t.Fatal(err)
			}
		}
		if err := theirs.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if _, err := introduce(ours, tt.sequence, wire.Halves{}, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLauncherRefusesMissingFiles checks that a launcher whose fork server or device is missing returns an error.
func TestLauncherRefusesMissingFiles(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := startForkServer(wire.Command{Argv: []string{missing}}, nil, wire.Halves{}, nil, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a fork server that is missing: %v", err)
	}
	if code, err := startChildren(wire.Setup{Devices: []string{missing}}, Role{}, nil); code != wire.ExitSetup || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is missing: %d, %v", code, err)
	}
	rules, err := (&Child{}).rules(wire.Setup{Landlock: 1}, common{-1: 0})
	if err == nil {
		t.Errorf("rules for a descriptor that is not open: %d", rules)
	}
}

// TestForkWithoutDescriptors checks that an order without the child's descriptors is refused.
func TestForkWithoutDescriptors(t *testing.T) {
	t.Parallel()
	image, err := child.NewLoopImage(child.LoopPlace{}, nil, wire.Halves{}, []string{child.FDDisk})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&forkServer{loopMemory: image}).fork(&Child{}, wire.Order{ID: 1}, nil); err == nil {
		t.Error("a child was ordered without its disk")
	}
}
