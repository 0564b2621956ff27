package launcher

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/child"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// TestNetworkRefuses checks that a child that cannot start, and invalid sockets, are errors.
func TestNetworkRefuses(t *testing.T) {
	t.Parallel()
	refused := errors.New("no child")
	if listener, err := startInNetwork(func() error { return refused }); listener != -1 || err == nil || os.Geteuid() == 0 && !errors.Is(err, refused) {
		t.Errorf("%d, %v", listener, err)
	}
	if raiseLoopback(-1) == nil || listenAt(-1) == nil {
		t.Error("an invalid socket was accepted")
	}
	udp, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(udp)
	if listenAt(udp) == nil {
		t.Error("listening on an invalid socket succeeded")
	}
}

// TestChildWithoutParts checks that creating a child without its descriptors, disk or rules is an error.
func TestChildWithoutParts(t *testing.T) {
	t.Parallel()
	made := child.NewPlan(child.Steps(wire.Setup{}, 1), &child.Heap{})
	if err := (&children{plan: made}).fork(&Child{}, wire.Order{}, nil); err == nil {
		t.Error("a child without its descriptors")
	}
	c := &Child{disk: -1}
	if c.enter(&noLock{}) == nil {
		t.Error("an invalid disk was entered")
	}
	if version := child.LandlockVersion(); version > 0 {
		for name, shared := range map[string]common{"a disk that is none": nil, "a path that is not open": {-1: child.ProcAccess}} {
			if _, err := c.rules(wire.Setup{Landlock: version, Filter: wire.FilterProgram}, shared); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	}
}

// TestNetworkOfNoChild checks that the network namespace returns to the pool if the child could not start.
func TestNetworkOfNoChild(t *testing.T) {
	t.Parallel()
	refused := errors.New("no child")
	var pool networks
	if _, err := pool.start(func() error { return refused }); err == nil || os.Geteuid() == 0 && !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	if os.Geteuid() == 0 && len(pool.free) != 1 {
		t.Errorf("%d namespaces are free", len(pool.free))
	}
}

// init checks that onOwnThread does not use the first thread of the process, which never ends. Only init is sure to run on
// that thread.
func init() {
	first := true
	onOwnThread(make(chan struct{}), func() { first = unix.Gettid() == unix.Getpid() })
	if first {
		panic("the first thread of the process was used")
	}
}
