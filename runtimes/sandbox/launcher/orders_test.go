package launcher

import (
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire/wiretest"
)

// TestForkServerTalksNonsense checks that listen returns an error when a fork server sends invalid data or ends.
func TestForkServerTalksNonsense(t *testing.T) {
	t.Parallel()
	ours, theirs := wiretest.Pair(t, unix.SOCK_SEQPACKET)
	f := &forkServer{control: ours}
	for _, reported := range []string{"{", strings.Repeat("7", 16)} {
		if _, err := io.WriteString(theirs, reported); err != nil {
			t.Fatal(err)
		}
		if err := f.listen(); err == nil || !strings.Contains(err.Error(), "the fork server ") {
			t.Errorf("%s: %v", reported, err)
		}
	}
	if err := theirs.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := f.listen(); !errors.Is(err, io.EOF) {
		t.Errorf("a fork server that ended: %v", err)
	}
}

// TestOrdersEnd checks that serveOrders returns when the server closes the connection.
func TestOrdersEnd(t *testing.T) {
	t.Parallel()
	control, server := wiretest.Pair(t, unix.SOCK_SEQPACKET)
	ours, theirs := wiretest.Pair(t, unix.SOCK_STREAM)
	if _, _, err := theirs.WriteMsgUnix([]byte{0}, unix.UnixRights(wiretest.Descriptor(t, control)), nil); err != nil {
		t.Fatal(err)
	}
	if err := server.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := (&children{}).serveOrders(ours); !errors.Is(err, io.EOF) {
		t.Errorf("orders ended with %v", err)
	}
}
