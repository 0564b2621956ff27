package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
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

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a resolver with fixed answers. If a name has several answers, each query returns the next one.
type names struct {
	mu    sync.Mutex
	lists map[string][][]string
	asked []string
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	host, whole := strings.CutSuffix(host, ".")
	n.asked = append(n.asked, host)
	lists := n.lists[host]
	if !whole { // a relative name may resolve to another name, because of this machine's search domains
		lists = nil
	}
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

// host records the events of a run.
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

// meter counts allowed and denied requests.
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

// run is the egress session of a run, with the address of its proxy as the program sees it.
type run struct {
	*egress.Session
	host  *host
	proxy *url.URL
}

// open opens a session and serves it on a loopback listener, which stands for the listener in the sandbox.
func open(t *testing.T, options egress.Options, granted ...string) *run {
	t.Helper()
	return openJob(t, options, runtimes.Job{Workspace: "w", Capabilities: runtimes.Capabilities{Hosts: granted}})
}

func openJob(t *testing.T, options egress.Options, job runtimes.Job) *run {
	t.Helper()
	r := &run{host: &host{}}
	r.Session = egress.New(options).Open(job, r.host)
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

// client returns an HTTP client that uses the proxy as a program does.
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

// raw sends bytes to the proxy and returns the response.
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
	answer, _ := io.ReadAll(conn) // the proxy may reset the connection after its response
	return string(answer)
}

// connect requests a tunnel and returns the status line.
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

// server is a destination that counts its requests.
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

// quiet returns a logger that discards the errors that a test server logs about malformed requests.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
