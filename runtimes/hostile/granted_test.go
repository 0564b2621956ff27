package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// wiretap is a jailer that captures the packets in the networks of its sandboxes.
type wiretap struct {
	worker.Jailer
	t *testing.T

	mu       sync.Mutex
	sniffers []int
}

func (w *wiretap) Prepare(ctx context.Context, profile sandbox.Profile) (worker.Jail, error) {
	jail, err := w.Jailer.Prepare(ctx, profile)
	if err == nil && jail.Network() != nil && unix.Geteuid() == 0 { // only root can capture packets, and no other test uses this network
		w.tap(jail.Network())
	}
	return jail, err
}

// tap captures every packet in the network namespace of a listener.
func (w *wiretap) tap(listener net.Listener) {
	const siocgskns, everything = 0x894c, 0x0300             // everything is ETH_P_ALL in network byte order
	socket, err := listener.(*net.TCPListener).SyscallConn() // a File of the listener would make Accept block
	if err != nil {
		w.t.Error(err)
		return
	}
	namespace := -1
	if failed := socket.Control(func(fd uintptr) { namespace, err = unix.IoctlRetInt(int(fd), siocgskns) }); failed != nil || err != nil {
		w.t.Error(failed, err)
		return
	}
	defer unix.Close(namespace)
	sniffer := make(chan int)
	go func() {
		runtime.LockOSThread() // the thread is not reused, because its namespace was changed
		defer close(sniffer)
		if err := unix.Setns(namespace, unix.CLONE_NEWNET); err != nil {
			w.t.Error(err)
			return
		}
		if fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, everything); err != nil {
			w.t.Error(err)
		} else {
			sniffer <- fd
		}
	}()
	if fd, ok := <-sniffer; ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sniffers = append(w.sniffers, fd)
	}
}

// heard returns the number of packets between a program and its proxy, and all other packets.
func (w *wiretap) heard() (own int, others []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	packet := make([]byte, 4096)
	for _, fd := range w.sniffers {
		for {
			n, _, err := unix.Recvfrom(fd, packet, 0)
			if err != nil {
				break
			}
			if p := packet[:n]; n > 40 && p[0]>>4 == 4 && p[9] == unix.IPPROTO_TCP && p[12] == 127 && p[16] == 127 || n == 40 {
				own++
			} else {
				others = append(others, fmt.Sprintf("%x", p[:min(n, 60)]))
			}
		}
		_ = unix.Close(fd)
	}
	w.sniffers = nil
	return own, others
}

// grants is the test of granted hosts for one language. The granted host is a server on this machine's loopback
// interface.
type grants struct {
	server *server
	engine engine
	tap    *wiretap
	site   *httptest.Server
	mu     sync.Mutex
	came   []string
}

func openGranted(t *testing.T, language runtimes.Language) *grants {
	t.Helper()
	g := &grants{server: &server{language: language}}
	g.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.came = append(g.came, r.Host+r.URL.Path)
		g.mu.Unlock()
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		default:
			fmt.Fprintf(w, `{"path":%q}`, r.URL.Path)
		}
	}))
	t.Cleanup(g.site.Close)
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: guests(t)})
	if err != nil {
		t.Fatal(err)
	}
	g.tap = &wiretap{Jailer: worker.FromSandbox(box), t: t}
	g.engine = g.server.engine(g.tap)
	t.Cleanup(func() {
		g.engine.Close()
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *grants) run(t *testing.T, source string, hosts ...string) (runtimes.Outcome, []runtimes.EgressData) {
	t.Helper()
	job := g.server.programs.Job(source)
	job.Capabilities.Hosts = hosts
	outcome, host := runtimetest.Run(t, g.engine, job)
	var events []runtimes.EgressData
	for _, e := range host.Events() {
		if e.Kind == runtimes.KindEgress {
			var data runtimes.EgressData
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			events = append(events, data)
		}
	}
	if outcome.Error != nil {
		t.Logf("%+v, stderr %s", outcome.Error, host.Stderr(t))
	}
	return outcome, events
}

// get holds programs that request URL and return the response.
var get = map[runtimes.Language]string{
	runtimes.Python:     "import json, urllib.request\ndef main():\n    return json.load(urllib.request.urlopen('URL', timeout=20))\n",
	runtimes.Bash:       "set -e\ncurl -fsSL --max-time 20 'URL' >\"$OUTPUT\"\n",
	runtimes.JavaScript: "export default async () => {\n  const answer = await fetch('URL')\n  if (!answer.ok) throw new Error(`status ${answer.status}`)\n  return answer.json()\n}\n",
}

// withCtx holds programs that do the same with the host function fetch, for languages in which get does not use it.
var withCtx = map[runtimes.Language]string{
	runtimes.Python: "def main(ctx):\n    return ctx.fetch('URL').json()\n",
	runtimes.Bash:   "set -e\natelier call fetch '{\"url\":\"URL\"}' | jq '.text | fromjson' >\"$OUTPUT\"\n",
}

// TestHostileGranted checks that a program can reach its granted host and no other host. Each decision must be reported
// as an event, and the sandbox must send packets only to the proxy.
func TestHostileGranted(t *testing.T) {
	t.Parallel()
	for language, program := range get {
		t.Run(string(language), func(t *testing.T) {
			t.Parallel()
			g := openGranted(t, language)
			address := g.site.Listener.Addr().String()
			held := true
			sub := func(name string, test func(t *testing.T)) {
				if !t.Run(name, test) {
					held = false
				}
				matrix.Case(hostile.Network, language, held)
			}
			sub("reaches the granted host", func(t *testing.T) {
				for _, text := range []string{program, withCtx[language]} {
					if text == "" {
						continue
					}
					outcome, events := g.run(t, strings.ReplaceAll(text, "URL", g.site.URL+"/a?b=secret"), address)
					if outcome.Error != nil || string(outcome.Output) != `{"path":"/a"}` {
						t.Errorf("%s %+v", outcome.Output, outcome.Error)
					}
					if len(events) != 1 || events[0].Decision != runtimes.EgressAllowed || events[0].Rule != address || events[0].Bytes == 0 {
						t.Errorf("%+v", events)
					}
				}
			})
			sub("cannot reach other hosts", func(t *testing.T) {
				for url, want := range map[string]string{
					"http://127.0.0.1:1/": "127.0.0.1:1", "http://localhost:" + portOf(address) + "/": "localhost:" + portOf(address),
					"https://api.example.com/v1": "api.example.com:443", "http://[::1]:" + portOf(address) + "/": "[::1]:" + portOf(address),
					g.site.URL + "/away": "127.0.0.1:1",
				} {
					outcome, events := g.run(t, strings.ReplaceAll(program, "URL", url), address)
					e := outcome.Error
					if e == nil || e.Type != runtimes.Denied || e.Rule != "capabilities.hosts" || e.Remedy == "" || e.Grant == nil || !slices.Equal(e.Grant.Hosts, []string{want}) || e.Line == 0 {
						t.Errorf("%s: %+v", url, e)
					}
					told := false
					for _, event := range events { // events come when requests end, so a redirected request may be reported last
						to := net.JoinHostPort(event.Host, strconv.Itoa(int(event.Port)))
						told = told || event.Decision == runtimes.EgressDenied && to == want
						if event.Decision == runtimes.EgressAllowed && to != address {
							t.Errorf("%s: allowed %s", url, to)
						}
					}
					if !told {
						t.Errorf("%s: %+v", url, events)
					}
				}
			})
			sub("is told the missing grant", func(t *testing.T) {
				for url, want := range map[string]string{
					"https://api.example.com/v1": "api.example.com:443", "http://example.com:8080/": "example.com:8080",
				} {
					outcome, _ := g.run(t, strings.ReplaceAll(program, "URL", url))
					e := outcome.Error
					if e == nil || e.Type != runtimes.Denied || e.Rule != "capabilities.hosts" || e.Grant == nil || !slices.Equal(e.Grant.Hosts, []string{want}) || e.Line == 0 {
						t.Errorf("%s: %+v", url, e)
					}
				}
			})
			own, others := g.tap.heard()
			if len(others) > 0 {
				t.Errorf("packets to other destinations: %q", others)
			}
			if own == 0 && language != runtimes.JavaScript && unix.Geteuid() == 0 {
				t.Error("nothing was captured")
			}
			for _, who := range g.came {
				if !strings.HasPrefix(who, address) {
					t.Errorf("%s came", who)
				}
			}
		})
	}
}

func portOf(address string) string {
	_, number, _ := net.SplitHostPort(address)
	return number
}
