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

// Marker is the HTTP reason phrase of the response to a denied request. HTTP libraries include it in their exceptions,
// so the guest can recognize a denial.
const Marker = "Denied by Atelier"

const (
	headerTime  = 10 * time.Second
	headerBytes = 64 << 10
	httpPort    = 80
)

// Serve handles the program's connections on a listener until the session closes. It returns at once.
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
	d.joined.Go(func() { _ = server.Serve(newPlaces(listener, d.proxy.options.Limits.Connections)) }) // Serve ends when the listener is closed
	d.joined.Go(func() {
		<-d.ctx.Done()
		_ = server.Close()
	})
}

// serve handles one request of the program.
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

// enter registers a request, so that Close waits for it. It returns false if the session is closed.
func (d *Session) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.joined.Add(1)
	return true
}

// malformed records and reports a request without a valid host. The report does not contain the invalid text.
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

// targetOf returns the target of a request to the proxy. It ignores the Host header, as RFC 9112 specifies.
func targetOf(r *http.Request) (hostpattern.Target, error) {
	switch {
	case r.Method == http.MethodConnect:
		return hostpattern.ParseHostPort(r.RequestURI, 0)
	case !r.URL.IsAbs():
		return hostpattern.Target{}, errors.New("this is a proxy and has no pages")
	case r.URL.Scheme != "http":
		return hostpattern.Target{}, errors.New("the proxy supports only http URLs; other protocols need CONNECT")
	case r.URL.User != nil:
		return hostpattern.Target{}, errors.New("a host must not have a user name")
	}
	return hostpattern.ParseHostPort(r.URL.Host, httpPort)
}

// forward sends a request and copies its response to the program. It does not follow redirects: the program sends each
// one as a new request to the proxy.
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
			// Keeps the query unchanged, even if Go would parse it differently or could not parse it.
			p.Out.URL.RawQuery = p.In.URL.RawQuery
			p.Out.Header.Del("Proxy-Authorization")
		},
		Transport: carried, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			decision = runtimes.EgressFailed
			refuse(w, x.failure())
		},
	}
	defer func() { x.end(decision) }() // deferred, because ReverseProxy panics if the response ends early
	proxy.ServeHTTP(w, r)
}

// transport returns a transport that sends one request over a new connection to a checked address.
func (x *exchange) transport() *http.Transport {
	config := x.session.proxy.options.TLS.Clone()
	return &http.Transport{
		DialContext:            func(ctx context.Context, _, _ string) (net.Conn, error) { return x.dial(ctx) },
		Proxy:                  nil, // nil, so that the proxy settings in the server's environment are not used
		TLSClientConfig:        config,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: headerBytes,
	}
}

// failure returns the reason why an allowed request failed: an exceeded limit or an unreachable host.
func (x *exchange) failure() *refusal {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.limit != nil {
		return x.limit
	}
	return &refusal{message: fmt.Sprintf("%s is unreachable or sent an invalid answer.", x.target)}
}

// refusalBody is the response body for a refused request. Its error has the same fields as the error of a run.
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

// refuse responds to a refused request. It writes the response to the connection itself, because net/http cannot set the
// reason phrase, which HTTP libraries show.
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
	// Marshaling plain fields never fails.
	body, _ := json.Marshal(refusalBody{refusalError{kind, why.message, why.rule, why.remedy, why.grant}})
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n", status, len(body)+1, body)
	_ = conn.SetWriteDeadline(time.Now().Add(headerTime))
	if _, err := io.WriteString(conn, b.String()); err == nil {
		drain(conn)
	}
}

// drain closes the write side and discards the client's remaining data for up to a second. Closing with unread data would
// reset the connection before the client has read the response.
func drain(conn net.Conn) {
	_ = closeWrite(conn)
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, conn, 1<<20)
}
