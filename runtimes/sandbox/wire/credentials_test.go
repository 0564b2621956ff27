package wire

import (
	"io"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire/wiretest"
)

// TestCredentialsAreNoDescriptors checks that a message with other control data is refused.
func TestCredentialsAreNoDescriptors(t *testing.T) {
	t.Parallel()
	ours, theirs := wiretest.Pair(t, unix.SOCK_SEQPACKET)
	if err := unix.SetsockoptInt(wiretest.Descriptor(t, ours), unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(theirs, "who am I"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReceiveMessage(ours, make([]byte, MaxNotice)); err == nil {
		t.Error("credentials were accepted as descriptors")
	}
}
