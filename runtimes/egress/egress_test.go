package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/hosts"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a resolver that answers from a list, a different one with each question if there are several.
type names struct {
	mu    sync.Mutex
	lists map[string][][]string
	asked []string
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, host)
	lists := n.lists[host]
	if len(lists) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(lists) > 1 {
		n.lists[host] = lists[1:]
	}
	var found []netip.Addr
	for _, text := range lists[0] {
		found = append(found, netip.MustParseAddr(text))
	}
	return found, nil
}

func leadsTo(lists map[string]string) *names {
	n := &names{lists: map[string][][]string{}}
	for name, list := range lists {
		n.lists[name] = [][]string{strings.Fields(list)}
	}
	return n
}

// host keeps the events of a run.
type host struct {
	mu     sync.Mutex
	events []runtimes.EgressData
	calls  []string
}

func (h *host) Emit(e runtimes.Event) {
	var data runtimes.EgressData
	_ = json.Unmarshal(e.Data, &data)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, data)
}

func (h *host) Call(_ context.Context, name string, _ json.RawMessage) (json.RawMessage, error) {
	h.calls = append(h.calls, name)
	return json.RawMessage(`"other"`), nil
}

func (h *host) all() []runtimes.EgressData {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]runtimes.EgressData(nil), h.events...)
}

// meter counts decisions.
type meter struct {
	mu     sync.Mutex
	counts map[runtimes.Decision]int
}

func (m *meter) Egress(decision runtimes.Decision, _ int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[runtimes.Decision]int{}
	}
	m.counts[decision]++
}

// run is a run with a way out, seen from the program.
type run struct {
	*egress.Door
	host  *host
	proxy *url.URL
}

// open serves a door on a loopback listener, which stands for the one in the jail.
func open(t *testing.T, options egress.Options, granted ...string) *run {
	t.Helper()
	r := &run{host: &host{}}
	r.Door = egress.New(options).Open(runtimes.Job{Workspace: "w", Capabilities: runtimes.Capabilities{Hosts: granted}}, r.host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		_ = listener.Close()
	})
	r.Serve(listener)
	r.proxy = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	return r
}

// client is a program's HTTP client that uses the proxy.
func (r *run) client(t *testing.T, roots *tls.Config) *http.Client {
	t.Helper()
	transport := &http.Transport{Proxy: http.ProxyURL(r.proxy), TLSClientConfig: roots}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (r *run) get(t *testing.T, address string) (status int, body string) {
	t.Helper()
	answer, err := r.client(t, nil).Get(address)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return answer.StatusCode, string(text)
}

// raw sends bytes to the proxy and answers what comes back.
func (r *run) raw(t *testing.T, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", r.proxy.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn) // a reset after the answer is fine
	return string(answer)
}

// connect asks for a tunnel and answers the status line.
func (r *run) connect(t *testing.T, authority string) string {
	t.Helper()
	conn, err := net.Dial("tcp", r.proxy.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", authority); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", authority, err)
	}
	return strings.TrimSpace(line)
}

// server is where programs may go, and counts who came.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	came []string
}

func serve(t *testing.T, handle http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(s.count(handle))
	t.Cleanup(s.Close)
	return s
}

func (s *server) count(handle http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.came = append(s.came, r.Host)
		s.mu.Unlock()
		handle(w, r)
	})
}

func (s *server) visits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.came)
}

func (s *server) address() string { return s.Listener.Addr().String() }

func (s *server) port() string {
	_, port, _ := net.SplitHostPort(s.address())
	return port
}

func hello(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello from %s", r.URL.Path) }

func TestGrantedHostIsReached(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	m := &meter{}
	r := open(t, egress.Options{Meter: m}, s.address())
	status, body := r.get(t, s.URL+"/a?secret=1")
	if status != 200 || body != "hello from /a" {
		t.Fatalf("%d %s", status, body)
	}
	r.Close()
	events := r.host.all()
	if len(events) != 1 {
		t.Fatalf("%+v", events)
	}
	e := events[0]
	if e.Host != "127.0.0.1" || fmt.Sprint(e.Port) != s.port() || e.Decision != runtimes.EgressAllowed || e.Rule != s.address() || e.Bytes == 0 || e.Ms <= 0 {
		t.Errorf("%+v", e)
	}
	if m.counts[runtimes.EgressAllowed] != 1 || r.Refused() {
		t.Errorf("counted %v, refused %v", m.counts, r.Refused())
	}
}

// TestUngrantedIsRefused: the answer says what was denied, by which rule, and the smallest grant.
func TestUngrantedIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	m := &meter{}
	r := open(t, egress.Options{Meter: m}, "api.example.com:443")
	answer, err := r.client(t, nil).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var body struct{ Error runtimes.ProgramError }
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	e := body.Error
	if answer.StatusCode != 403 || !strings.HasSuffix(answer.Status, egress.Marker) || e.Type != runtimes.Denied || e.Rule != egress.RuleHosts || e.Grant == nil || e.Grant.Hosts[0] != s.address() || !strings.Contains(e.Remedy, s.address()) {
		t.Errorf("%s, %+v", answer.Status, e)
	}
	failed := runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "OSError", File: "main.py", Line: 3}
	r.Blame(&failed)
	if failed.Type != runtimes.Denied || failed.Line != 3 || failed.Rule != egress.RuleHosts || !r.Refused() {
		t.Errorf("%+v", failed)
	}
	if s.visits() != 0 || m.counts[runtimes.EgressDenied] != 1 {
		t.Errorf("%d visits, %v", s.visits(), m.counts)
	}
	if events := r.host.all(); len(events) != 1 || events[0].Decision != runtimes.EgressDenied || events[0].Rule != egress.RuleHosts || events[0].Bytes != 0 {
		t.Errorf("%+v", events)
	}
}

// tricky are ways to write a host, or to make a granted name lead elsewhere. Nothing but example.com:80 and its like are
// granted; name servers are hostile. PORT is the port of a server on the loopback of this machine, which must not be reached.
var tricky = []struct{ form, rule string }{
	// Numbers that resolvers take for 127.0.0.1.
	{"2130706433:PORT", egress.RuleForm},
	{"0x7f000001:PORT", egress.RuleForm},
	{"0X7F000001:PORT", egress.RuleForm},
	{"017700000001:PORT", egress.RuleForm},
	{"127.1:PORT", egress.RuleForm},
	{"127.0.1:PORT", egress.RuleForm},
	{"0x7f.1:PORT", egress.RuleForm},
	{"0x7f.0.0.1:PORT", egress.RuleForm},
	{"0177.0.0.1:PORT", egress.RuleForm},
	{"127.0.0.0x1:PORT", egress.RuleForm},
	{"127.000.000.001:PORT", egress.RuleForm},
	{"0:PORT", egress.RuleForm},
	{"4294967296:PORT", egress.RuleForm},
	{"256.0.0.1:PORT", egress.RuleForm},
	{"1.2.3.4.5:PORT", egress.RuleForm},
	// Addresses in their usual form.
	{"127.0.0.1:PORT", egress.RuleHosts},
	{"127.0.0.1.:PORT", egress.RuleHosts},
	{"127.255.255.254:PORT", egress.RuleHosts},
	{"0.0.0.0:PORT", egress.RuleHosts},
	{"10.0.0.1:80", egress.RuleHosts},
	{"169.254.169.254:80", egress.RuleHosts},
	{"100.64.0.1:80", egress.RuleHosts},
	{"224.0.0.1:80", egress.RuleHosts},
	{"[::1]:PORT", egress.RuleHosts},
	{"[::]:PORT", egress.RuleHosts},
	{"[0:0:0:0:0:0:0:1]:PORT", egress.RuleHosts},
	{"[::ffff:127.0.0.1]:PORT", egress.RuleHosts},
	{"[::ffff:7f00:1]:PORT", egress.RuleHosts},
	{"[::127.0.0.1]:PORT", egress.RuleHosts},
	{"[64:ff9b::7f00:1]:PORT", egress.RuleHosts},
	{"[2002:7f00:1::]:PORT", egress.RuleHosts},
	{"[fe80::1]:80", egress.RuleHosts},
	{"[fc00::1]:80", egress.RuleHosts},
	{"[ff02::1]:80", egress.RuleHosts},
	// Names that are not granted, or almost.
	{"localhost:PORT", egress.RuleHosts},
	{"LOCALHOST:PORT", egress.RuleHosts},
	{"localhost.:PORT", egress.RuleHosts},
	{"localhost.localdomain:PORT", egress.RuleHosts},
	{"ip6-localhost:PORT", egress.RuleHosts},
	{"example.com:81", egress.RuleHosts},
	{"example.com.evil.org:80", egress.RuleHosts},
	{"evilexample.com:80", egress.RuleHosts},
	{"wild.example.com:80", egress.RuleHosts},
	{"evilwild.example.net:80", egress.RuleHosts},
	{"xn--xample-9uf.com:80", egress.RuleHosts},
	{"example.com..:80", egress.RuleForm},
	{".example.com:80", egress.RuleForm},
	{"example..com:80", egress.RuleForm},
	{"example.com:0", egress.RuleForm},
	{"example.com:65536", egress.RuleForm},
	// Granted names whose server answers with an address that is not public.
	{"loopback.wild.example.net:80", egress.RuleAddress + "loopback"},
	{"LOOPBACK.wild.example.net.:80", egress.RuleAddress + "loopback"},
	{"loopback6.wild.example.net:80", egress.RuleAddress + "loopback"},
	{"mapped.wild.example.net:80", egress.RuleAddress + "loopback"},
	{"unspecified.wild.example.net:80", egress.RuleAddress + "unspecified"},
	{"unspecified6.wild.example.net:80", egress.RuleAddress + "unspecified"},
	{"private10.wild.example.net:80", egress.RuleAddress + "private"},
	{"private172.wild.example.net:80", egress.RuleAddress + "private"},
	{"private192.wild.example.net:80", egress.RuleAddress + "private"},
	{"ula.wild.example.net:80", egress.RuleAddress + "private"},
	{"linklocal.wild.example.net:80", egress.RuleAddress + "link-local"},
	{"linklocal6.wild.example.net:80", egress.RuleAddress + "link-local"},
	{"metadata.wild.example.net:80", egress.RuleAddress + "metadata"},
	{"azure.wild.example.net:80", egress.RuleAddress + "metadata"},
	{"alibaba.wild.example.net:80", egress.RuleAddress + "carrier"},
	{"aws6.wild.example.net:80", egress.RuleAddress + "metadata"},
	{"cgnat.wild.example.net:80", egress.RuleAddress + "carrier"},
	{"multicast.wild.example.net:80", egress.RuleAddress + "multicast"},
	{"multicast6.wild.example.net:80", egress.RuleAddress + "multicast"},
	{"broadcast.wild.example.net:80", egress.RuleAddress + "reserved"},
	{"nat64.wild.example.net:80", egress.RuleAddress + "nat64"},
	{"sixtofour.wild.example.net:80", egress.RuleAddress + "6to4"},
	{"teredo.wild.example.net:80", egress.RuleAddress + "teredo"},
	{"compatible.wild.example.net:80", egress.RuleAddress + "compatible"},
	{"beyond.wild.example.net:80", egress.RuleAddress + "reserved"},
	{"scoped.wild.example.net:80", egress.RuleAddress + "invalid"},
	{"mixed.wild.example.net:80", egress.RuleAddress + "loopback"}, // one public address does not excuse the other
	{"own.wild.example.net:80", egress.RuleAddress + "own"},
	{"own6.wild.example.net:80", egress.RuleAddress + "own"},
	{"xn--bcher-kva.wild.example.net:80", egress.RuleAddress + "loopback"},
}

func trickyOptions() egress.Options {
	lists := map[string]string{
		"loopback": "127.0.0.1", "loopback6": "::1", "mapped": "::ffff:127.0.0.1", "unspecified": "0.0.0.0", "unspecified6": "::",
		"private10": "10.1.2.3", "private172": "172.31.255.255", "private192": "192.168.0.1", "ula": "fd12::1", "linklocal": "169.254.1.1",
		"linklocal6": "fe80::1", "metadata": "169.254.169.254", "azure": "168.63.129.16", "alibaba": "100.100.100.200", "aws6": "fd00:ec2::254",
		"cgnat": "100.127.255.255", "multicast": "239.1.1.1", "multicast6": "ff05::1", "broadcast": "255.255.255.255", "nat64": "64:ff9b::a00:1",
		"sixtofour": "2002:a00:1::1", "teredo": "2001:0:1::1", "compatible": "::10.0.0.1", "beyond": "4000::1", "scoped": "fe80::1%lo",
		"mixed": "93.184.216.34 127.0.0.1", "own": "198.51.99.7", "own6": "2a00::7", "xn--bcher-kva": "127.0.0.1",
	}
	resolver := &names{lists: map[string][][]string{"localhost": {{"127.0.0.1"}}, "example.com": {{"127.0.0.1"}}}}
	for name, list := range lists {
		resolver.lists[name+".wild.example.net"] = [][]string{strings.Fields(list)}
	}
	own := func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("198.51.99.7")}, &net.IPNet{IP: net.ParseIP("2a00::7")}, &net.UnixAddr{}}, nil
	}
	return egress.Options{Resolver: resolver, Own: own}
}

// TestTrickyForms tries each form by the three ways: a request to the proxy, a tunnel, the host function.
func TestTrickyForms(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	if len(tricky) < 50 {
		t.Fatalf("only %d forms", len(tricky))
	}
	for _, tt := range tricky {
		form := strings.ReplaceAll(tt.form, "PORT", s.port())
		ways := map[string]func(r *run) (refused bool, said string){
			"proxy": func(r *run) (bool, string) {
				said := r.raw(t, "GET http://"+form+"/ HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
				return strings.HasPrefix(said, "HTTP/1.1 403 "+egress.Marker) || strings.HasPrefix(said, "HTTP/1.1 400 "), said
			},
			"tunnel": func(r *run) (bool, string) {
				said := r.connect(t, form)
				return said == "HTTP/1.1 403 "+egress.Marker || strings.HasPrefix(said, "HTTP/1.1 400 "), said
			},
			"fetch": func(r *run) (bool, string) {
				_, err := r.Call(t.Context(), egress.Function, json.RawMessage(`{"url":"http://`+form+`/"}`))
				return err != nil, fmt.Sprint(err)
			},
		}
		for way, try := range ways {
			t.Run(way+" "+tt.form, func(t *testing.T) {
				t.Parallel()
				r := open(t, trickyOptions(), "example.com:80", "*.wild.example.net:80", "api.example.com:443")
				refused, said := try(r)
				if !refused {
					t.Fatalf("let through: %s", said)
				}
				events := r.host.all()
				if len(events) == 0 && strings.Contains(said, "400 ") || len(events) == 0 && strings.Contains(said, "fetch: url") {
					return // it never was a request
				}
				if len(events) != 1 || events[0].Decision != runtimes.EgressDenied || events[0].Rule != tt.rule {
					t.Errorf("%+v, want %s denied by %s", events, form, tt.rule)
				}
			})
		}
	}
	t.Cleanup(func() {
		if s.visits() > 0 {
			t.Errorf("somebody came through: %v", s.came)
		}
	})
}

// TestMalformedRequests are requests to the proxy that no client sends.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	for name, request := range map[string]string{
		"a page of the proxy":        "GET / HTTP/1.1\r\nHost: " + s.address() + "\r\n\r\n",
		"another page":               "GET /http://x HTTP/1.1\r\nHost: " + s.address() + "\r\n\r\n",
		"https without a tunnel":     "GET https://" + s.address() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"ftp":                        "GET ftp://" + s.address() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"file":                       "GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
		"user and password":          "GET http://" + s.address() + "@evil.org/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"user before a granted host": "GET http://evil.org@" + s.address() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"backslash":                  "GET http://evil.org\\@" + s.address() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"encoded host":               "GET http://127%2e0.0.1:" + s.port() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"zone":                       "GET http://[::1%25lo]:" + s.port() + "/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"no host":                    "GET http:///x HTTP/1.1\r\nHost: x\r\n\r\n",
		"tunnel without a port":      "CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"tunnel to a path":           "CONNECT /x HTTP/1.1\r\nHost: x\r\n\r\n",
		"tunnel to a URL":            "CONNECT http://" + s.address() + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"two lengths":                "POST " + s.URL + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"a star":                     "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"very long host":             "GET http://" + strings.Repeat("a", 2000) + ".com/ HTTP/1.1\r\nHost: x\r\n\r\n",
		"endless header":             "GET " + s.URL + "/ HTTP/1.1\r\nX: " + strings.Repeat("a", 80<<10) + "\r\n\r\n",
		"nonsense":                   "\x00\x01\x02\r\n\r\n",
		"TLS to the proxy":           "\x16\x03\x01\x00\x05hello\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, egress.Options{}, s.address())
			before := s.visits()
			if said := r.raw(t, request); !strings.HasPrefix(said, "HTTP/1.1 40") && !strings.HasPrefix(said, "HTTP/1.1 431") && said != "" {
				t.Errorf("%.200s", said)
			}
			if s.visits() != before {
				t.Error("it came through")
			}
		})
	}
}

// TestHostHeaderDoesNotCount: what a server is asked for is what was granted.
func TestHostHeaderDoesNotCount(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %q %q", r.Host, r.Header.Get("Proxy-Authorization"), r.Header.Get("X-Hop"))
	})
	r := open(t, egress.Options{}, s.address())
	said := r.raw(t, "GET "+s.URL+"/ HTTP/1.1\r\nHost: evil.org\r\nProxy-Authorization: Basic secret\r\nX-Hop: 1\r\nConnection: close, X-Hop\r\n\r\n")
	if !strings.HasSuffix(said, s.address()+` "" ""`) {
		t.Error(said)
	}
}

// TestRedirectsPassTheSameDoor, by a client behind the proxy and by the host function.
func TestRedirectsPassTheSameDoor(t *testing.T) {
	t.Parallel()
	forbidden := serve(t, hello)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/out":
			http.Redirect(w, r, forbidden.URL+"/", http.StatusFound)
		case "/user":
			http.Redirect(w, r, "http://u:p@"+r.Host+"/end", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/in":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		default:
			hello(w, r)
		}
	})
	r := open(t, egress.Options{}, s.address())
	if status, body := r.get(t, s.URL+"/in"); status != 200 || body != "hello from /end" {
		t.Errorf("%d %s", status, body)
	}
	if status, body := r.get(t, s.URL+"/out"); status != 403 || !strings.Contains(body, egress.RuleHosts) {
		t.Errorf("%d %s", status, body)
	}
	for path, want := range map[string]string{
		"/in": `"redirected":true`, "/out": egress.RuleHosts, "/user": "could not be reached", "/file": egress.RuleForm, "/loop": "could not be reached",
	} {
		if got := r.fetch(t, `{"url":"`+s.URL+path+`"}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := r.fetch(t, `{"url":"`+s.URL+`/out","redirect":"manual"}`); !strings.Contains(got, `"status":302`) {
		t.Error(got)
	}
	if got := r.fetch(t, `{"url":"`+s.URL+`/in","redirect":"error"}`); !strings.Contains(got, "could not be reached") {
		t.Error(got)
	}
	if forbidden.visits() > 0 {
		t.Error("a redirect led out")
	}
}

// fetch is the host function, its answer or its refusal as text.
func (r *run) fetch(t *testing.T, args string) string {
	t.Helper()
	answer, err := r.Call(t.Context(), egress.Function, json.RawMessage(args))
	if err != nil {
		text, _ := json.Marshal(err)
		return string(text)
	}
	return string(answer)
}

// TestRebinding: a name server that answers well when it is asked and otherwise when it is asked again gets nowhere,
// because there is no second question; and one that answers badly at the second request is refused then.
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

// TestNobodyListens: allowed, and still not reached.
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
	if got := r.fetch(t, `{"url":"`+s.URL+`"}`); !strings.Contains(got, "could not be reached") {
		t.Error(got)
	}
	for _, e := range r.host.all() {
		if e.Decision != runtimes.EgressFailed {
			t.Errorf("%+v", e)
		}
	}
}

// TestFirstAddressIsSilent: a name with an address that nobody answers at is reached by its other one.
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
	waits, err := net.Dial("tcp", silent) // the one place in its queue; who comes later hears nothing
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

// TestCeiling: what the operator did not allow is not reached, whatever the version says, and no grant is proposed.
func TestCeiling(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	capped := func(workspace string) hosts.Ceiling {
		if workspace != "w" {
			return hosts.Ceiling{All: true}
		}
		return hosts.Ceiling{}
	}
	r := open(t, egress.Options{Ceiling: capped}, s.address())
	for _, address := range []string{s.URL, "http://other.test"} {
		status, body := r.get(t, address)
		if status != 403 || !strings.Contains(body, egress.RuleCeiling) || strings.Contains(body, `"grant"`) {
			t.Errorf("%d %s", status, body)
		}
	}
}

func TestMetadataIsNotProposed(t *testing.T) {
	t.Parallel()
	r := open(t, egress.Options{})
	_, body := r.get(t, "http://169.254.169.254/latest")
	if strings.Contains(body, `"grant"`) || !strings.Contains(body, "secrets of the machine") {
		t.Error(body)
	}
}

func TestGrantsOfOlderRulesGrantNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	r := open(t, egress.Options{}, "http://"+s.address(), "0x7f.1:"+s.port(), "")
	if status, body := r.get(t, s.URL); status != 403 || !strings.Contains(body, "no hosts are granted") {
		t.Errorf("%d %s", status, body)
	}
}

// TestSettle: of what a program says about its failure only a host stays, and only one that could be granted.
func TestSettle(t *testing.T) {
	t.Parallel()
	r := open(t, egress.Options{}, "granted.test:80")
	r.Settle(nil)
	for host, want := range map[string]string{
		"api.example.com:443": "api.example.com:443 is not among", "granted.test:80": "by HTTP and its proxy only", "no host at all": "gaierror", "x:0": "gaierror",
	} {
		e := runtimes.ProgramError{Type: runtimes.Denied, Message: "gaierror", Rule: egress.RuleNetwork, Line: 7, Grant: &runtimes.Grant{Hosts: []string{host}}}
		r.Settle(&e)
		if !strings.Contains(e.Message, want) || e.Line != 7 || strings.Contains(want, "not among") != (e.Grant != nil) {
			t.Errorf("%s: %+v", host, e)
		}
	}
	two := runtimes.ProgramError{Type: runtimes.Denied, Grant: &runtimes.Grant{Hosts: []string{"a.test:1", "b.test:1"}}}
	if r.Settle(&two); two.Grant != nil {
		t.Errorf("%+v", two)
	}
	e := runtimes.ProgramError{Type: runtimes.RuntimeError}
	if r.Blame(&e); e.Type != runtimes.RuntimeError { // nothing was asked for
		t.Errorf("%+v", e)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 300_000)) })
	limits := egress.DefaultLimits()
	limits.Requests, limits.Bytes, limits.Answer = 3, 400_000, 200_000

	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Limits: limits}, s.address())
		if status, body := r.get(t, s.URL); status != 200 || len(body) != 300_000 {
			t.Fatalf("%d, %d bytes", status, len(body))
		}
		answer, err := r.client(t, nil).Get(s.URL)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		if err == nil {
			t.Error("more than the limit came through, or it ended as if it were whole")
		}
		if status, body := r.get(t, s.URL); status != 403 || !strings.Contains(body, egress.RuleBytes) {
			t.Errorf("%d %s", status, body)
		}
		r.Close()
		events := r.host.all()
		if len(events) != 3 || events[1].Rule != egress.RuleBytes || events[1].Decision != runtimes.EgressDenied || !r.Refused() {
			t.Errorf("%+v", events)
		}
	})
	t.Run("requests", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Limits: limits})
		for range 3 {
			if status, body := r.get(t, "http://x.test/"); status != 403 || !strings.Contains(body, egress.RuleHosts) {
				t.Errorf("%d %s", status, body)
			}
		}
		if status, body := r.get(t, "http://x.test/"); status != 403 || !strings.Contains(body, egress.RuleRequests) {
			t.Errorf("%d %s", status, body)
		}
		for range 3 {
			r.raw(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			r.get(t, "http://x.test/")
			r.fetch(t, `{"url":"http://x.test/"}`)
		}
		if events := r.host.all(); len(events) != 4 || !r.Refused() { // the first that is too many, and no more
			t.Errorf("%d events", len(events))
		}
	})
	t.Run("answer of the host function", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Limits: limits}, s.address())
		if got := r.fetch(t, `{"url":"`+s.URL+`"}`); !strings.Contains(got, "more than 200000 bytes") {
			t.Errorf("%.200s", got)
		}
	})
	t.Run("bytes of the host function", func(t *testing.T) {
		t.Parallel()
		limits := limits
		limits.Answer = 1 << 20
		r := open(t, egress.Options{Limits: limits}, s.address())
		r.fetch(t, `{"url":"`+s.URL+`"}`)
		if got := r.fetch(t, `{"url":"`+s.URL+`"}`); !strings.Contains(got, egress.RuleBytes) {
			t.Errorf("%.200s", got)
		}
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		hang := make(chan struct{})
		slow := serve(t, func(http.ResponseWriter, *http.Request) { <-hang })
		defer close(hang)
		limits := limits
		limits.Exchange = 50 * time.Millisecond
		r := open(t, egress.Options{Limits: limits}, slow.address())
		if status, _ := r.get(t, slow.URL); status != 502 {
			t.Errorf("status %d", status)
		}
	})
}

// TestClose ends what is under way: nothing of a run outlives it.
func TestClose(t *testing.T) {
	t.Parallel()
	arrived, hang := make(chan struct{}, 3), make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	defer close(hang)
	r := open(t, egress.Options{}, s.address())
	var wait sync.WaitGroup
	wait.Go(func() {
		if answer, err := r.client(t, nil).Get(s.URL); err == nil {
			_ = answer.Body.Close()
		}
	})
	wait.Go(func() { _, _ = r.Call(context.Background(), egress.Function, json.RawMessage(`{"url":"`+s.URL+`"}`)) })
	wait.Go(func() {
		r.raw(t, "CONNECT "+s.address()+" HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	})
	for range 3 {
		<-arrived
	}
	r.Close()
	wait.Wait()
	if events := r.host.all(); len(events) != 3 {
		t.Errorf("%+v", events)
	}
	if _, err := r.Call(t.Context(), egress.Function, json.RawMessage(`{"url":"`+s.URL+`"}`)); err == nil {
		t.Error("a closed door answers")
	}
	r.Serve(nil) // does nothing
}

func TestTunnel(t *testing.T) {
	t.Parallel()
	secure := &server{}
	secure.Server = httptest.NewUnstartedServer(secure.count(hello))
	secure.Config.ErrorLog = quiet()
	secure.StartTLS()
	t.Cleanup(secure.Close)
	resolver := leadsTo(map[string]string{"example.com": "127.0.0.1"}) // the name in the test server's certificate
	named := "example.com:" + secure.port()
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig

	t.Run("by name", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Resolver: resolver}, named, secure.address())
		answer, err := r.client(t, roots).Get("https://" + named + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		r.client(t, nil).CloseIdleConnections()
		r.Close()
		if events := r.host.all(); len(events) != 1 || events[0].Decision != runtimes.EgressAllowed || events[0].Host != "example.com" || events[0].Bytes < 1000 {
			t.Errorf("%+v", events)
		}
	})
	t.Run("by address", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{}, secure.address())
		answer, err := r.client(t, roots).Get("https://" + secure.address() + "/x")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	})
	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{})
		_, err := r.client(t, roots).Get("https://" + named + "/x")
		if err == nil || !strings.Contains(err.Error(), egress.Marker) {
			t.Error(err)
		}
	})
	t.Run("for another name", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Resolver: resolver}, named, secure.address())
		conn, err := net.Dial("tcp", r.proxy.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", named)
		if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
			t.Fatal(err)
		}
		before := secure.visits()
		fronted := tls.Client(conn, &tls.Config{ServerName: "evil.org", InsecureSkipVerify: true})
		if err := fronted.Handshake(); err == nil {
			t.Error("a certificate for another name was asked for and given")
		}
		r.Close()
		if events := r.host.all(); len(events) != 1 || events[0].Rule != egress.RuleName || !r.Refused() || secure.visits() != before {
			t.Errorf("%+v", events)
		}
	})
	t.Run("with a name that cannot be read", func(t *testing.T) {
		t.Parallel()
		hello := helloFor("evil.org")
		dotted := bytes.Replace(hello, []byte("evil.org"), []byte("evil.or."), 1)
		alert := []byte{21, 3, 1, 0, 2, 1, 90} // a warning, which servers pass over
		for name, start := range map[string][]byte{
			"a dot at its end": dotted, "after a warning": append(alert, hello...), "in a record of its own kind": append([]byte{20, 3, 3, 0, 1, 1}, hello...),
		} {
			came := make(chan []byte, 1)
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer close(came)
				if conn, err := listener.Accept(); err == nil {
					defer conn.Close()
					got, _ := io.ReadAll(conn)
					came <- got
				}
			}()
			address := listener.Addr().String()
			_, port, _ := net.SplitHostPort(address)
			r := open(t, egress.Options{Resolver: resolver}, "example.com:"+port, address)
			conn, err := net.Dial("tcp", r.proxy.Host)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "CONNECT example.com:%s HTTP/1.1\r\nHost: x\r\n\r\n", port)
			if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
				t.Fatal(err)
			}
			_, _ = conn.Write(start)
			_ = conn.(*net.TCPConn).CloseWrite()
			if got := <-came; len(got) > 0 {
				t.Errorf("%s: %q came", name, got)
			}
			_, _ = conn.Close(), listener.Close()
			r.Close()
			if events := r.host.all(); len(events) != 1 || events[0].Rule != egress.RuleName || !r.Refused() {
				t.Errorf("%s: %+v", name, events)
			}
		}
	})
	t.Run("without a name, and without TLS", func(t *testing.T) {
		t.Parallel()
		plain := serve(t, hello)
		grant := "plain.test:" + plain.port()
		r := open(t, egress.Options{Resolver: leadsTo(map[string]string{"plain.test": "127.0.0.1", "example.com": "127.0.0.1"})}, grant, plain.address(), named, secure.address())
		said := r.raw(t, "CONNECT "+grant+" HTTP/1.1\r\nHost: x\r\n\r\nGET /t HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if !strings.HasSuffix(said, "hello from /t") {
			t.Error(said)
		}
		conn, err := net.Dial("tcp", r.proxy.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", named)
		if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
			t.Fatal(err)
		}
		if err := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake(); err != nil {
			t.Error(err)
		}
	})
	t.Run("fetch", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Resolver: resolver, TLS: roots}, named, secure.address())
		if got := r.fetch(t, `{"url":"https://`+named+`/f"}`); !strings.Contains(got, "hello from /f") {
			t.Error(got)
		}
		strict := open(t, egress.Options{Resolver: resolver}, named, secure.address())
		if got := strict.fetch(t, `{"url":"https://`+named+`/f"}`); !strings.Contains(got, "could not be reached") {
			t.Error(got)
		}
	})
}

// helloFor is how a client begins who asks for a certificate of that name.
func helloFor(name string) []byte {
	client, server := net.Pipe()
	defer server.Close()
	go func() {
		defer client.Close()
		_ = tls.Client(client, &tls.Config{ServerName: name}).Handshake()
	}()
	hello := make([]byte, 16<<10)
	n, _ := server.Read(hello)
	return hello[:n]
}

// TestQueryStays: what stands behind the question mark is the program's, however it is written.
func TestQueryStays(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.RawQuery) })
	r := open(t, egress.Options{}, s.address())
	for _, query := range []string{"b=2&a=1", "b;a", "z=%zz&a=1", "q=a;b&x"} {
		if said := r.raw(t, "GET "+s.URL+"/?"+query+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(said, "\r\n\r\n"+query) {
			t.Errorf("%s: %s", query, said)
		}
	}
}

// TestAnswerThatGrows: an answer whose text would be much longer as JSON comes as bytes.
func TestAnswerThatGrows(t *testing.T) {
	t.Parallel()
	limits := egress.DefaultLimits()
	limits.Answer = 100_000
	for _, letter := range []string{"\x00", "<", "\"", "a"} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(letter, 100_000))
		})
		r := open(t, egress.Options{Limits: limits}, s.address())
		if got := r.fetch(t, `{"url":"`+s.URL+`"}`); len(got) > 201_000 {
			t.Errorf("%q: %d bytes", letter, len(got))
		}
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Echo", r.Header.Get("X-Mine"))
		if r.URL.Path == "/bytes" {
			_, _ = w.Write([]byte{0xff, 0xfe, 0})
			return
		}
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.UserAgent(), body)
	})
	r := open(t, egress.Options{}, s.address())
	for args, want := range map[string]string{
		`{"url":"URL/"}`: `"text":"GET ADDRESS atelier "`,
		`{"url":"URL/","method":"post","headers":[["X-Mine","1"],["Host","evil.org"],["content-length","9"]],"body":"hi"}`: `"text":"POST ADDRESS atelier hi"`,
		`{"url":"URL/","headers":[["X-Mine","1"],["User-Agent","me"]]}`:                                                    `["x-echo","1"]`,
		`{"url":"URL/","base64":"aGk="}`: `"status":418,"statusText":"I'm a teapot"`,
		`{"url":"URL/bytes"}`:            `"base64":"//4A"`,
		`{"url":"URL/#part"}`:            `"url":"URL/"`,

		`{"url":"ftp://x/"}`:                                "http:// or https://",
		`{"url":"/x"}`:                                      "http:// or https://",
		`{"url":"http://"}`:                                 "name a host",
		`{"url":"http://a b/"}`:                             "http:// or https://",
		`{"url":"http://u:p@x/"}`:                           "user name",
		`{"url":"URL","redirect":"x"}`:                      "redirect is",
		`{"url":"URL","method":"CONNECT"}`:                  "not for programs",
		`{"url":"URL","method":"A B"}`:                      "not one of HTTP",
		`{"url":"URL","headers":[["a b","1"]]}`:             "a header",
		`{"url":"URL","headers":[["a","1\r\nHost: evil"]]}`: "a header",
		`{"url":"URL","headers":` + many(101) + `}`:         "at most 100",
		`{"url":"URL","nonsense":1}`:                        "its arguments",
		`[]`:                                                "its arguments",
	} {
		put := strings.NewReplacer("URL", s.URL, "ADDRESS", s.address())
		if got := r.fetch(t, put.Replace(args)); !strings.Contains(got, put.Replace(want)) {
			t.Errorf("%s: %s, want %s", args, got, put.Replace(want))
		}
	}
	if got := r.fetch(t, `{"url":"http://127.0.0.1:1/"}`); !strings.Contains(got, `"code":"denied"`) || !strings.Contains(got, `"grant":{"hosts":["127.0.0.1:1"]}`) {
		t.Error(got)
	}
	if answer, err := r.Call(t.Context(), "log", nil); err != nil || string(answer) != `"other"` || r.host.calls[0] != "log" {
		t.Errorf("%s, %v", answer, err)
	}
}

func many(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`["a","b"],`, n), ",") + "]"
}

// quiet is for servers whose complaints about hostile clients are no news.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// TestLastLook: the socket goes where the decision said, to an address that is still fine. Nothing gets that far otherwise,
// while the dialler does as it is told.
func TestLastLook(t *testing.T) {
	t.Parallel()
	r := open(t, egress.Options{Own: func() ([]net.Addr, error) { return nil, nil }}, "public.test:80", "127.0.0.1:80")
	target, err := hosts.ParseTarget("public.test", 80)
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
