package egress_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

// TestRebinding uses a name whose second query returns a forbidden address. One request must query the name only once, so
// the first request connects to the allowed address. The next request must be refused.
func TestRebinding(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	resolver := &names{lists: map[string][][]string{"rebind.test": {{"127.0.0.1"}, {"127.0.0.2"}}}}
	grant := "rebind.test:" + s.port()
	r := open(t, egress.Options{Resolver: resolver}, grant, s.address())
	if status, body := r.get(t, "http://"+grant+"/"); status != 200 { // 127.0.0.1 is granted by address
		t.Fatalf("%d %s", status, body)
	}
	if len(resolver.asked) != 1 {
		t.Errorf("asked %v for one request", resolver.asked)
	}
	if status, body := r.get(t, "http://"+grant+"/"); status != 403 || !strings.Contains(body, egress.RuleAddress+"loopback") || !strings.Contains(body, "127.0.0.2:"+s.port()) {
		t.Errorf("%d %s", status, body)
	}
}

func TestNameThatDoesNotExist(t *testing.T) {
	t.Parallel()
	r := open(t, egress.Options{Resolver: leadsTo(nil)}, "gone.test:80")
	if status, body := r.get(t, "http://gone.test/"); status != 502 || !strings.Contains(body, "could not be resolved") {
		t.Errorf("%d %s", status, body)
	}
	if events := r.host.all(); len(events) != 1 || events[0].Decision != runtimes.EgressFailed || r.Refused() {
		t.Errorf("%+v", events)
	}
	if got := r.fetch(t, `{"url":"http://gone.test/"}`); !strings.Contains(got, `"failed"`) {
		t.Error(got)
	}
}

// TestNamesOfTheTable checks that a single-word name is found in the hosts file.
func TestNamesOfTheTable(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	granted := "localhost:" + s.port()
	r := open(t, egress.Options{}, granted, s.address())
	if status, body := r.get(t, "http://"+granted+"/"); status != 200 || body != "hello from /" {
		t.Errorf("%d %s", status, body)
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	s.Close()
	r := open(t, egress.Options{}, s.address())
	if status, _ := r.get(t, s.URL); status != 502 {
		t.Errorf("status %d", status)
	}
	if said := r.connect(t, s.address()); said != "HTTP/1.1 502 Bad Gateway" {
		t.Error(said)
	}
	if got := r.fetch(t, `{"url":"`+s.URL+`"}`); !strings.Contains(got, "is unreachable") {
		t.Error(got)
	}
	for _, e := range r.host.all() {
		if e.Decision != runtimes.EgressFailed {
			t.Errorf("%+v", e)
		}
	}
}

// TestFirstAddressIsSilent checks that the proxy tries the second address of a name if the first does not respond.
func TestFirstAddressIsSilent(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	port := s.Listener.Addr().(*net.TCPAddr).Port
	full, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(full)
	if err := errors.Join(unix.Bind(full, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 2}, Port: port}), unix.Listen(full, 0)); err != nil {
		t.Fatal(err)
	}
	silent := "127.0.0.2:" + s.port()
	waits, err := net.Dial("tcp", silent) // fills the accept queue, which has one place; later connections get no response
	if err != nil {
		t.Fatal(err)
	}
	defer waits.Close()
	limits := egress.DefaultLimits()
	limits.Dial = 2 * time.Second
	resolver := leadsTo(map[string]string{"two.test": "127.0.0.2 127.0.0.1"})
	r := open(t, egress.Options{Limits: limits, Resolver: resolver}, "two.test:"+s.port(), s.address(), silent)
	if status, body := r.get(t, "http://two.test:"+s.port()+"/x"); status != 200 || body != "hello from /x" {
		t.Errorf("%d %s", status, body)
	}
}

func TestOwnAddressesThatCannotBeKnown(t *testing.T) {
	t.Parallel()
	r := open(t, egress.Options{
		Resolver: leadsTo(map[string]string{"public.test": "93.184.216.34"}),
		Own:      func() ([]net.Addr, error) { return nil, io.ErrUnexpectedEOF },
	}, "public.test:80")
	if status, body := r.get(t, "http://public.test/"); status != 403 || !strings.Contains(body, egress.RuleAddress+"own") {
		t.Errorf("%d %s", status, body)
	}
}

// TestLastLook checks that a socket connects only to the approved address, and only if that address is still allowed. The
// test calls the check directly, because a correct dialer passes no other address to it.
func TestLastLook(t *testing.T) {
	t.Parallel()
	r := open(t, egress.Options{Own: func() ([]net.Addr, error) { return nil, nil }}, "public.test:80", "127.0.0.1:80")
	target, err := hostpattern.ParseTarget("public.test", 80)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		decided, address string
		fine             bool
	}{
		{"93.184.216.34", "93.184.216.34:80", true},
		{"93.184.216.34", "[::ffff:93.184.216.34]:80", true},
		{"127.0.0.1", "127.0.0.1:80", true}, // granted as an address
		{"93.184.216.34", "93.184.216.35:80", false},
		{"93.184.216.34", "93.184.216.34:81", false},
		{"93.184.216.34", "127.0.0.1:80", false},
		{"10.0.0.1", "10.0.0.1:80", false},
		{"93.184.216.34", "public.test:80", false},
	} {
		if err := r.LastLook(target, netip.MustParseAddr(tt.decided), tt.address); (err == nil) != tt.fine {
			t.Errorf("%s for %s: %v", tt.address, tt.decided, err)
		}
	}
}
