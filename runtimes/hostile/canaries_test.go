package hostile_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
)

// canaries holds resources of this host that only an escaped program could find: a world-readable file, listeners of
// every kind, and a secret in the server's environment.
type canaries struct {
	file        string
	environment map[string]string // environment variables that tell a program where to search
	heard       atomic.Int64      // connections and datagrams
}

func plant(t *testing.T) *canaries {
	t.Helper()
	dir := filepath.Dir(t.TempDir())
	for _, path := range []string{dir, filepath.Join(dir, "open")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	c := &canaries{file: filepath.Join(dir, "open", "canary")}
	if err := os.WriteFile(c.file, []byte(`"canary"`), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(c.file, 0o666); err != nil {
		t.Fatal(err)
	}
	socket, abstract := filepath.Join(dir, "open", "s"), fmt.Sprintf("atelier-canary-%d-%s", os.Getpid(), filepath.Base(dir))
	tcp := c.listen(t, "tcp", "127.0.0.1:0")
	c.listen(t, "unix", socket)
	c.listen(t, "unix", "@"+abstract)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	go func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 64)); err != nil {
				return
			}
			c.heard.Add(1)
		}
	}()
	c.environment = map[string]string{
		"CANARY": c.file, "SOCKET": socket, "ABSTRACT": abstract, "MARK": "mark-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(dir),
		"TCP": port(tcp.Addr()), "UDP": port(udp.LocalAddr()), "SECRET_A": secret[:8], "SECRET_B": secret[8:],
	}
	return c
}

func (c *canaries) listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.heard.Add(1)
			go func() { // a client may send data before the connection closes
				_, _ = conn.Read(make([]byte, 1))
				_ = conn.Close()
			}()
		}
	}()
	return listener
}

func port(address net.Addr) string {
	_, number, _ := net.SplitHostPort(address.String())
	return number
}

// untouched fails the test if a program has connected to a canary or changed the file.
func (c *canaries) untouched(t *testing.T) {
	t.Helper()
	if n := c.heard.Load(); n > 0 {
		t.Errorf("%d connections from the sandbox", n)
	}
	if text, err := os.ReadFile(c.file); err != nil || string(text) != `"canary"` {
		t.Errorf("the canary is %q, %v", text, err)
	}
}
