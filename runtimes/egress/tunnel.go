package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
)

// tunnel handles CONNECT: it copies bytes in both directions until one side closes. It inspects only the server name in
// the TLS ClientHello. This is needed because one address often serves many names of which only one is granted.
func (x *exchange) tunnel(ctx context.Context, w http.ResponseWriter) {
	there, err := x.dial(ctx)
	if err != nil {
		x.end(runtimes.EgressFailed)
		refuse(w, x.failure())
		return
	}
	defer there.Close()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		x.end(runtimes.EgressFailed)
		return
	}
	here, buffered, err := hijacker.Hijack()
	if err != nil {
		x.end(runtimes.EgressFailed)
		return
	}
	defer here.Close()
	_ = here.SetDeadline(x.began.Add(x.session.proxy.options.Limits.Exchange))
	stop := context.AfterFunc(ctx, func() { _, _ = here.Close(), there.Close() })
	defer stop()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		x.end(runtimes.EgressFailed)
		return
	}
	// Errors at the end of a tunnel are ignored, because only the two endpoints can handle them.
	var both sync.WaitGroup
	both.Go(func() {
		defer func() { _ = closeWrite(there) }()
		start, why := x.hello(buffered.Reader)
		if why != nil {
			x.stop(why)
			_, _ = here.Close(), there.Close()
			return
		}
		_, _ = io.Copy(there, io.MultiReader(bytes.NewReader(start), buffered.Reader))
	})
	both.Go(func() {
		defer func() { _ = closeWrite(here) }()
		_, _ = io.Copy(here, there)
	})
	both.Wait()
	x.end(runtimes.EgressAllowed)
}

// Lowest and highest type of a TLS record. A TLS connection starts with a handshake record, but servers ignore some
// other records before that record.
const (
	firstRecord = 0x14
	lastRecord  = 0x17
)

// hello checks the server name in the program's ClientHello. It returns the data that it has read, which the caller
// must forward. It refuses data that starts like TLS but cannot be parsed, because the remote server may still read a
// server name from that data.
func (x *exchange) hello(in interface {
	io.Reader
	Peek(int) ([]byte, error)
}) (start []byte, why *refusal) {
	if first, err := in.Peek(1); err != nil || first[0] < firstRecord || first[0] > lastRecord || x.target.Addr.IsValid() {
		return nil, nil
	}
	recorded := &recorder{from: in}
	name, seen := "", false
	server := tls.Server(recorded, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name, seen = hello.ServerName, true
		return nil, errSeen
	}})
	_ = server.Handshake() // the handshake never succeeds: it ends with errSeen once the ClientHello is parsed
	switch {
	case !seen && recorded.over: // the client closed its side before it had sent the complete ClientHello
		return nil, nil
	case !seen:
		return nil, unreadName(x.target)
	case name == "":
		return recorded.taken.Bytes(), nil
	}
	if asked, err := hostpattern.ParseTarget(name, x.target.Port); err != nil || asked.Host != x.target.Host {
		return nil, wrongName(x.target, strings.ToLower(name))
	}
	return recorded.taken.Bytes(), nil
}

var errSeen = errors.New("the name was seen")

// recorder is a connection for the TLS parser: it records the bytes that are read and discards the bytes that are written.
type recorder struct {
	from  io.Reader
	taken bytes.Buffer
	over  bool
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.taken.Write(p[:n])
	r.over = r.over || err != nil
	return n, err
}

func (r *recorder) Write(p []byte) (int, error)      { return len(p), nil }
func (r *recorder) Close() error                     { return nil }
func (r *recorder) LocalAddr() net.Addr              { return net.TCPAddrFromAddrPort(netip.AddrPort{}) }
func (r *recorder) RemoteAddr() net.Addr             { return net.TCPAddrFromAddrPort(netip.AddrPort{}) }
func (r *recorder) SetDeadline(time.Time) error      { return nil }
func (r *recorder) SetReadDeadline(time.Time) error  { return nil }
func (r *recorder) SetWriteDeadline(time.Time) error { return nil }
