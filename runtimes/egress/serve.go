package egress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
)

// Marker is the reason phrase of a refusal. Libraries put it into their exceptions, where it can be found again.
const Marker = "Denied by Atelier"

const (
	headerTime  = 10 * time.Second
	headerBytes = 64 << 10
	httpPort    = 80
)

// Serve answers the program on a listener until the door closes. It returns at once.
func (d *Session) Serve(listener net.Listener) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	server := &http.Server{
		Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerBytes, DisableGeneralOptionsHandler: true,
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return d.ctx },
	}
	d.joined.Go(func() { _ = server.Serve(newPlaces(listener, d.proxy.options.Limits.Connections)) }) // it ends by being closed
	d.joined.Go(func() {
		<-d.ctx.Done()
		_ = server.Close()
	})
}

// serve answers one request of the program.
func (d *Session) serve(w http.ResponseWriter, r *http.Request) {
	if !d.enter() {
		return
	}
	defer d.joined.Done()
	ctx, cancel := context.WithTimeout(r.Context(), d.proxy.options.Limits.Exchange)
	defer cancel()
	r = r.WithContext(ctx)
	target, err := targetOf(r)
	if err != nil {
		why := badForm(err)
		d.malformed(why)
		refuse(w, why)
		return
	}
	x, why := d.begin(ctx, target)
	if why != nil {
		refuse(w, why)
		return
	}
	if r.Method == http.MethodConnect {
		if secrets := d.bound.to(target, "https"); len(secrets) > 0 {
			why := noTunnel(target, secrets[0].Name)
			x.stop(why)
			x.end(runtimes.EgressDenied)
			refuse(w, why)
			return
		}
		x.tunnel(ctx, w)
		return
	}
	x.forward(w, r)
}

// enter keeps Close waiting, unless the door is closed.
func (d *Session) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.joined.Add(1)
	return true
}

// malformed tells of a request that names no host. What it names instead may be anything and is not repeated.
func (d *Session) malformed(why *refusal) {
	d.mu.Lock()
	d.requests++
	d.refused = why
	over := d.requests > d.proxy.options.Limits.Requests
	d.mu.Unlock()
	if !over {
		(&exchange{session: d, rule: why.rule, began: time.Now()}).end(runtimes.EgressDenied)
	}
}

// targetOf reads where a request to the proxy wants to go. The Host header does not count, as RFC 9112 has it.
func targetOf(r *http.Request) (hostpattern.Target, error) {
	switch {
	case r.Method == http.MethodConnect:
		return hostpattern.ParseHostPort(r.RequestURI, 0)
	case !r.URL.IsAbs():
		return hostpattern.Target{}, errors.New("this is a proxy and has no pages")
	case r.URL.Scheme != "http":
		return hostpattern.Target{}, errors.New("the proxy supports http, and CONNECT for everything else")
	case r.URL.User != nil:
		return hostpattern.Target{}, errors.New("a host must not have a user name")
	}
	return hostpattern.ParseHostPort(r.URL.Host, httpPort)
}

// forward passes a request on, and its answer back. Redirects are the program's: each comes through this door again.
func (x *exchange) forward(w http.ResponseWriter, r *http.Request) {
	decision := runtimes.EgressAllowed
	transport := x.transport()
	defer transport.CloseIdleConnections()
	var carried http.RoundTripper = transport
	if secrets := x.session.bound.to(x.target, "http"); len(secrets) > 0 {
		carried = carrier{transport, r.Context(), x.session.bound, secrets}
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.Host = x.target.Authority(httpPort)
			p.Out.URL.Host = x.target.String()
			p.Out.URL.RawQuery = p.In.URL.RawQuery // also where Go would read it otherwise, or not at all
			p.Out.Header.Del("Proxy-Authorization")
		},
		Transport: carried, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			decision = runtimes.EgressFailed
			refuse(w, x.failure())
		},
	}
	defer func() { x.end(decision) }() // an answer that breaks off in its middle comes as a panic, which is the server's
	proxy.ServeHTTP(w, r)
}

// transport sends one request, over a connection of its own to an address that was checked.
func (x *exchange) transport() *http.Transport {
	config := x.session.proxy.options.TLS.Clone()
	return &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return x.dial(ctx) },
		Proxy:                  nil, // ours is no business of the server's environment
		TLSClientConfig:        config,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: headerBytes,
	}
}

// failure is what a program is told of a request that was allowed and did not succeed.
func (x *exchange) failure() *refusal {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.limit != nil {
		return x.limit
	}
	return &refusal{message: fmt.Sprintf("%s is unreachable or sent an invalid answer.", x.target)}
}

// refusalBody is the answer to a request that is refused, in the words of a run's error.
type refusalBody struct {
	Error refusalError `json:"error"`
}

type refusalError struct {
	Type    string          `json:"type"`
	Message string          `json:"message"`
	Rule    string          `json:"rule,omitempty"`
	Remedy  string          `json:"remedy,omitempty"`
	Grant   *runtimes.Grant `json:"grant,omitempty"`
}

// refuse answers a request that goes nowhere. It writes the answer itself, because libraries show the reason phrase.
func refuse(w http.ResponseWriter, why *refusal) {
	status, kind := "403 "+Marker, string(runtimes.Denied)
	if why.rule == "" {
		status, kind = "502 Bad Gateway", "unreachable"
	}
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	body, _ := json.Marshal(refusalBody{refusalError{kind, why.message, why.rule, why.remedy, why.grant}}) // plain fields always marshal
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n", status, len(body)+1, body)
	_ = conn.SetWriteDeadline(time.Now().Add(headerTime))
	if _, err := io.WriteString(conn, b.String()); err == nil {
		drain(conn)
	}
}

// drain lets the other side read the answer before the connection is reset because of what it still sends.
func drain(conn net.Conn) {
	_ = closeWrite(conn)
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, conn, 1<<20)
}
