// Package framing refuses a request that has both a Content-Length and a chunked body (request smuggling). net/http
// uses the chunks, and removes Content-Length before a handler can see it. A proxy that uses Content-Length instead
// finds a different end of the request. It would treat the remaining bytes as the next request, and that may be the
// request of another client.
package framing

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// maxHead is the maximum size in bytes of the head of a request that is recorded. It is larger than any head that
// net/http accepts here. If a chunked request has a longer head, it is refused.
const maxHead = 128 << 10

// keptHead is the size in bytes of the buffer that an idle connection keeps.
const keptHead = 2 << 10

// Watch makes a server record the head of each request that it reads from the listener. Check needs this record. The
// server's own functions ConnContext and ConnState are still called.
func Watch(server *http.Server, listener net.Listener) net.Listener {
	own := server.ConnContext
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if own != nil {
			ctx = own(ctx, c)
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	state := server.ConnState
	server.ConnState = func(c net.Conn, now http.ConnState) {
		if state != nil {
			state(c, now)
		}
		if watched, ok := c.(*conn); ok && now == http.StateIdle {
			watched.nextRequest()
		}
	}
	return watchedListener{listener}
}

// Check refuses a chunked request whose head contains a Content-Length. It also refuses a chunked request whose head
// was not recorded because the client sent it before the previous request was answered.
func Check(r *http.Request) error {
	c, watched := r.Context().Value(connKey{}).(*conn)
	if !watched || len(r.TransferEncoding) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimLeft(string(c.head), "\r\n"), "\n")
	if !c.complete || strings.TrimRight(lines[0], "\r") != r.Method+" "+r.RequestURI+" "+r.Proto {
		return fault.New(fault.BadRequest, "A chunked request must not be sent before the previous request was answered.")
	}
	for _, line := range lines[1:] {
		name, _, _ := strings.Cut(line, ":")
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			return fault.New(fault.BadRequest, "The request has both Content-Length and Transfer-Encoding: chunked. Send only one of them.")
		}
	}
	return nil
}

type connKey struct{}

type watchedListener struct{ net.Listener }

// Accept returns a connection that records heads. If the connection is not a TCP connection, it comes from this process
// and is not recorded.
func (l watchedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &conn{TCPConn: tcp}, err
	}
	return c, err
}

// conn records the head of the request that is being read. It needs no lock, because net/http never reads and checks at
// the same time.
type conn struct {
	*net.TCPConn
	head     []byte
	complete bool   // whether the head has ended, so that a body follows
	early    []byte // byte that net/http reads while a handler runs, in order to notice that the client disconnects
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	switch {
	case !c.complete:
		c.record(p[:n])
	case len(p) == 1 && n == 1:
		c.early = []byte{p[0]}
	}
	return n, err
}

// record adds bytes to the head until the empty line that ends the head.
func (c *conn) record(text []byte) {
	from := max(0, len(c.head)-len("\n\r"))
	c.head = append(c.head, text...)
	begin := len(c.head) - len(bytes.TrimLeft(c.head, "\r\n")) // net/http ignores empty lines before a request.
	for i := max(from, begin); i < len(c.head); i++ {
		if c.head[i] == '\n' && (bytes.HasPrefix(c.head[i+1:], []byte("\n")) || bytes.HasPrefix(c.head[i+1:], []byte("\r\n"))) {
			c.head, c.complete = c.head[:i], true
			return
		}
	}
	if len(c.head) > maxHead {
		c.head, c.complete = nil, true // Check will refuse the request.
	}
}

// nextRequest discards the recorded head and starts to record the next one. It begins with the byte of the next head
// that may already have been read.
func (c *conn) nextRequest() {
	if cap(c.head) > keptHead {
		c.head = nil
	}
	c.head, c.early, c.complete = append(c.head[:0], c.early...), nil, false
}
