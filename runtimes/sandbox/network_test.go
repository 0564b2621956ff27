package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

func newNetworkChild(t *testing.T, box *sandbox.Sandbox) *child {
	t.Helper()
	profile := program(runtimes.DefaultLimits())
	profile.Launcher, profile.Network = "with network", true
	return newChildOf(t, box, profile)
}

// answerOnce answers the first connection with word, and sends its request to the channel.
func answerOnce(listener net.Listener, word string) <-chan string {
	asked := make(chan string, 1)
	go func() {
		defer close(asked)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		question := make([]byte, 64)
		n, _ := conn.Read(question)
		asked <- strings.TrimSpace(string(question[:n]))
		_, _ = io.WriteString(conn, word+"\n")
	}()
	return asked
}

const ask = `exec 9<>/dev/tcp/127.0.0.1/3128 && echo "$1" >&9 && read -r answer <&9 && echo "got $answer"`

// TestNetworkOfAChild checks that each child can connect only to ProxyAddress, and that the connection arrives at the
// listener of its own jail.
func TestNetworkOfAChild(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, guestsExe(t))
	first, second := newNetworkChild(t, box), newNetworkChild(t, box)
	if first.Launcher().PID() != second.Launcher().PID() {
		t.Fatal("two launchers of one name")
	}
	for i, c := range []*child{first, second} {
		name := fmt.Sprint("child", i)
		asked := answerOnce(c.Network(), "hello "+name)
		if reported := c.begin(t, strings.ReplaceAll(ask, "$1", name)+" || echo nobody"); reported != "got hello "+name {
			t.Errorf("%s: %s", name, reported)
		}
		if question := <-asked; question != name {
			t.Errorf("%s was asked %q", name, question)
		}
	}
	if newChild(t, box, "without").Network() != nil {
		t.Error("a jail without a network has one")
	}
}

// TestNetworkEndsWithItsJail checks that Accept ends with an error when the program is gone.
func TestNetworkEndsWithItsJail(t *testing.T) {
	t.Parallel()
	c := newNetworkChild(t, sandboxtest.New(t, guestsExe(t)))
	over := make(chan error, 1)
	go func() {
		_, err := c.Network().Accept()
		over <- err
	}()
	c.Kill()
	c.Wait()
	if err := <-over; err == nil {
		t.Error("Accept returned a connection")
	}
}

// attempts is a Python program that tries to reach other addresses than the proxy, and to gain the privileges for that.
// Each attempt must fail.
const attempts = `
import ctypes, errno, fcntl, os, socket, struct
through = []
def attempt(name, what):
    try:
        what()
        through.append(name)
    except OSError as e:
        pass
tcp = lambda host, port: socket.create_connection((host, port), 2).close()
udp = lambda host, port: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (host, port))
for host in ("1.1.1.1", "10.0.0.1", "169.254.169.254", "192.168.0.1", "HOST"):
    attempt("tcp " + host, lambda: tcp(host, 80))
    attempt("udp " + host, lambda: udp(host, 53))
for port in (22, 53, 80, 443, 3127, 3129, 5432, 8002, PORT):
    attempt("loopback %d" % port, lambda: tcp("127.0.0.1", port))
attempt("tcp6", lambda: socket.socket(socket.AF_INET6).connect(("2606:4700::1111", 80)))
attempt("tcp6 link", lambda: socket.socket(socket.AF_INET6).connect(("fe80::1", 80, 0, 1)))
attempt("names", lambda: socket.getaddrinfo("example.com", 80))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP))
attempt("icmp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("bluetooth", lambda: socket.socket(31, socket.SOCK_RAW, 1))
attempt("the place of the proxy", lambda: socket.socket().bind(("127.0.0.1", 3128)))
attempt("interface", lambda: fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH22x", b"lo", 0)))
attempt("address", lambda: fcntl.ioctl(socket.socket(), 0x8916, struct.pack("16sHH4s16x", b"lo", 2, 0, bytes([10, 0, 0, 1]))))
attempt("device", lambda: open("/dev/net/tun", "rb"))
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    if getattr(libc, name)(*args) < 0:
        raise OSError(ctypes.get_errno(), name)
attempt("namespace", lambda: call("unshare", 0x40000000))
attempt("user namespace", lambda: call("unshare", 0x10000000))
attempt("other namespace", lambda: call("setns", os.open("/proc/1/ns/net", os.O_RDONLY), 0x40000000))
print("through:", through)
`

// TestHostileProgramWithNetwork checks that a program with a network reaches only its proxy, and that no packet goes
// elsewhere.
func TestHostileProgramWithNetwork(t *testing.T) {
	t.Parallel()
	outside, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	c := newNetworkChild(t, sandboxtest.New(t, guestsExe(t)))
	packets := capture(t, c.Network())
	syscallProgram := strings.NewReplacer("PORT", fmt.Sprint(outside.Addr().(*net.TCPAddr).Port), "HOST", ownAddress(t)).Replace(attempts)
	if err := c.out.WriteJSON(frames.Job, map[string]any{"argv": []string{"/usr/bin/python3", "-I", "-S", "-c", syscallProgram}, "env": []string{"PATH=/usr/bin:/bin"}}); err != nil {
		t.Fatal(err)
	}
	if reported := c.output(t); reported != "through: []" {
		t.Error(reported)
	}
	if seen := packets(); len(seen) > 0 {
		t.Errorf("packets to other destinations were sent: %v", seen)
	}
}

// TestCaptureSees checks that capture works, because TestHostileProgramWithNetwork relies on it. It must record a DNS
// query that nobody answers.
func TestCaptureSees(t *testing.T) {
	t.Parallel()
	c := newNetworkChild(t, sandboxtest.New(t, guestsExe(t)))
	packets := capture(t, c.Network())
	if reported := c.begin(t, `echo question >/dev/udp/127.0.0.1/53; echo asked`); reported != "asked" {
		t.Error(reported)
	}
	if seen := packets(); len(seen) == 0 && unix.Geteuid() == 0 {
		t.Error("no packet was captured")
	}
}

// output returns all output of the program until its end.
func (c *child) output(t *testing.T) string {
	t.Helper()
	reported := ""
	for {
		kind, payload, err := c.in.Read()
		if err != nil {
			t.Fatal(err)
		}
		if kind == frames.Done {
			return strings.TrimSpace(reported)
		}
		reported += string(payload)
	}
}

// ownAddress returns an address of this machine that is not a loopback address, if there is one.
func ownAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if network, ok := one.(*net.IPNet); ok && !network.IP.IsLoopback() && network.IP.To4() != nil {
			return network.IP.String()
		}
	}
	return "192.0.2.1"
}

// capture records every packet in the network namespace of a listener. foreign returns the packets that are not TCP
// between loopback addresses. Only root can capture; for other users foreign returns nil.
func capture(t *testing.T, listener net.Listener) (foreign func() []string) {
	t.Helper()
	if unix.Geteuid() != 0 {
		return func() []string { return nil }
	}
	socket, err := listener.(*net.TCPListener).SyscallConn() // File would set the socket to blocking mode
	if err != nil {
		t.Fatal(err)
	}
	const siocgskns = 0x894c
	namespace := -1
	if failed := socket.Control(func(fd uintptr) { namespace, err = unix.IoctlRetInt(int(fd), siocgskns) }); failed != nil || err != nil {
		t.Fatalf("find the namespace: %v, %v", failed, err)
	}
	defer unix.Close(namespace)
	sniffer := make(chan int, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with its namespace
		defer close(sniffer)
		if err := unix.Setns(namespace, unix.CLONE_NEWNET); err != nil {
			t.Errorf("enter the namespace: %v", err)
			return
		}
		const everything = 0x0300 // ETH_P_ALL in network byte order
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, everything)
		if err != nil {
			t.Errorf("capture packets: %v", err)
			return
		}
		sniffer <- fd
	}()
	fd, ok := <-sniffer
	if !ok {
		t.FailNow()
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return func() []string {
		var seen []string
		packet := make([]byte, 2048)
		for {
			n, _, err := unix.Recvfrom(fd, packet, 0)
			if err != nil || n < 1 {
				return seen
			}
			if p := packet[:n]; n < 20 || p[0]>>4 != 4 || p[9] != unix.IPPROTO_TCP || p[12] != 127 || p[16] != 127 {
				seen = append(seen, fmt.Sprintf("%x", p[:min(n, 48)]))
			}
		}
	}
}
