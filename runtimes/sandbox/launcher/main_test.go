package launcher

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// TestInsideRefuses checks that the code of process 1 returns an error outside of a jail, or if its set-up is incomplete.
func TestInsideRefuses(t *testing.T) {
	t.Parallel()
	if code, err := inside([]string{"program"}, nil); code != wire.ExitSetup || err == nil {
		t.Errorf("served outside of a jail: %d, %v", code, err)
	}
	if _, jailed := Main([]string{"atelier", "serve"}, nil); jailed {
		t.Error("Main handled an ordinary command")
	}
	if _, err := find(nil, "program", wire.Setup{Filter: wire.FilterProgram}); err == nil {
		t.Error("an unknown role was found")
	}
	for name, send := range map[string]func(net.Conn){
		"nothing":   func(net.Conn) {},
		"no set-up": func(c net.Conn) { _ = frames.NewWriter(c).Write(frames.Job, nil) },
		"no JSON":   func(c net.Conn) { _ = frames.NewWriter(c).Write(frames.Setup, []byte("{")) },
	} {
		ours, theirs := net.Pipe()
		go func() {
			send(ours)
			_ = ours.Close()
		}()
		if _, err := receive(theirs); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(uintptr(null)); err == nil { // open closes it
		t.Error("a device is a connection")
	}
	if _, _, err := open(1 << 20); err == nil {
		t.Error("a descriptor that is not open is a connection")
	}
	ours, theirs := net.Pipe()
	go func() { _, _ = ours.Write([]byte("x")); _ = ours.Close() }()
	if err := serveProbe(theirs); err != nil {
		t.Errorf("the probe: %v", err)
	}
}
