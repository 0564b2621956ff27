package sandbox

import (
	"errors"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRootRefuses fills a root where another file is in the way. Each step must return an error, and nothing may be
// mounted.
func TestRootRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"f", "work"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"disk", "proc"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	nothing := tree{fd: -1, file: true, path: "nothing"}
	beneath := tree{fd: -1, path: "f/beneath"}
	for name, err := range map[string]error{
		"a work directory that is a file":   fillRoot(setup{Launcher: true}, nil),
		"a disk that is there":              fillRoot(setup{Disk: 1 << 20}, nil),
		"a copy of nothing":                 fillRoot(setup{}, []tree{nothing}),
		"a mount beneath a file":            fillRoot(setup{}, []tree{beneath}),
		"a file beneath a file":             fillRoot(setup{Files: map[string]string{"/f/beneath": ""}}, nil),
		"a link where something is already": fillRoot(setup{Links: map[string]string{"/f": "/work"}}, nil),
		"a proc that is there":              fillRoot(setup{Proc: true}, nil),
	} {
		if err == nil {
			t.Errorf("%s: furnished", name)
		}
	}
}

// TestNetworkRefuses uses a namespace whose child could not start, and invalid sockets.
func TestNetworkRefuses(t *testing.T) {
	t.Parallel()
	refused := errors.New("no child")
	if listener, err := startInNetwork(func() error { return refused }); listener != -1 || err == nil || os.Geteuid() == 0 && !errors.Is(err, refused) {
		t.Errorf("%d, %v", listener, err)
	}
	if raiseLoopback(-1) == nil || listenAt(-1) == nil {
		t.Error("a socket that is none has a network")
	}
}

// TestChildWithoutParts tests the launcher's side of a child without any of its parts.
func TestChildWithoutParts(t *testing.T) {
	t.Parallel()
	made := newPlan([]step{do("x", unix.SYS_GETPID, descriptor("nowhere"))}, &heap{})
	if err := (&children{plan: made}).fork(&Child{}, order{}, nil); err == nil {
		t.Error("a child without its descriptors")
	}
	child := &Child{disk: -1}
	if child.enter(&noLock{}) == nil {
		t.Error("a disk that is none was entered")
	}
	if version := landlockVersion(); version > 0 {
		for name, shared := range map[string]common{"a disk that is none": nil, "a path that is not open": {-1: procAccess}} {
			if _, err := child.rules(setup{Landlock: version, Filter: FilterProgram}, shared); err == nil {
				t.Errorf("%s: there are rules", name)
			}
		}
	}
	ours, theirs := pair(t, unix.SOCK_STREAM)
	_ = ours.Close()
	if _, err := sendControl(ours); err == nil {
		t.Error("a connection that is closed carries a descriptor")
	}
	silent, _ := net.Pipe()
	if _, err := sendControl(silent); err == nil {
		t.Error("a pipe within the process carries a descriptor")
	}
	_ = theirs.Close()
}
