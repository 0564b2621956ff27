package doctor

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
)

// site is an HTTP server on the host, to which programs may get access. It counts its requests.
type site struct {
	http.Server
	address string
	visits  atomic.Int64
}

// siteSays is the text with which the site responds.
const siteSays = "doctor was here"

func newSite(ctx context.Context) (*site, error) {
	var l net.ListenConfig
	listener, err := l.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{address: listener.Addr().String()}
	s.ReadHeaderTimeout = time.Second
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.visits.Add(1)
		}
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, siteSays) })
	go func() { _ = s.Serve(listener) }() // serves until the listener is closed
	return s, nil
}

// grants runs a program in each language. The program connects to a granted host and then tries to reach other hosts.
func (d *Doctor) grants(ctx context.Context, engines []Engine) {
	granted, err := newSite(ctx)
	if err != nil {
		return // the canaries have already reported that there is no loopback interface
	}
	defer granted.Close()
	other, err := newSite(ctx)
	if err != nil {
		return
	}
	defer other.Close()
	for _, e := range engines {
		text := attacks.Source(e.Language, "granted")
		if text == "" {
			continue
		}
		granted.visits.Store(0)
		other.visits.Store(0)
		t := run(ctx, e, job(e, text, input(map[string]string{"granted": granted.address, "other": other.address}), func(j *runtimes.Job) {
			j.Capabilities.Hosts = []string{granted.address}
		}))
		c := judgeGrant(t.stdout, granted.visits.Load(), other.visits.Load())
		if wrong := t.failure(); wrong != "" {
			c = Check{Verdict: Fail, Evidence: "The program failed: " + wrong, Fix: d.remedyOfEngine(e)}
		}
		c.Group, c.Name, c.Language = Canaries, "granted hosts", e.Language
		d.add(c)
	}
}

// judgeGrant parses lines of the form "granted <tab> text" and "beyond <tab> way". It also uses the number of requests
// that the servers counted, because the program's output is not trusted.
func judgeGrant(stdout string, granted, other int64) Check {
	arrived := false
	var beyond []string
	for line := range strings.Lines(stdout) {
		switch what, detail, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t"); what {
		case "granted":
			arrived = detail == siteSays
		case "beyond":
			beyond = append(beyond, detail)
		}
	}
	if other > 0 {
		beyond = append(beyond, plural(int(other), "visit", "visits")+" to another server")
	}
	switch {
	case len(beyond) > 0:
		return Check{Verdict: Fail, Evidence: "a host that was not granted, by " + strings.Join(cutList(beyond, 6), ", "), Fix: ask}
	case !arrived || granted == 0:
		return Check{Verdict: Fail, Evidence: fmt.Sprintf("the granted host is unreachable (%s)", firstLine(stdout)), Fix: "Make sure that the kernel supports network namespaces (CONFIG_NET_NS) and that loopback is up."}
	}
	return Check{Verdict: Pass, Evidence: "only the granted host is reachable, by the proxy"}
}
