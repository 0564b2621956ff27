package egress

import (
	"net"
	"sync"
)

// places is a listener that limits the number of concurrent connections. Further connections wait. Tunnels need
// connections that support half-close; those of netutil.LimitListener in x/net do not.
type places struct {
	net.Listener
	free chan struct{}
	stop chan struct{}
	once sync.Once
}

func newPlaces(listener net.Listener, most int) *places {
	return &places{Listener: listener, free: make(chan struct{}, most), stop: make(chan struct{})}
}

// Accept implements net.Listener.
func (p *places) Accept() (net.Conn, error) {
	select {
	case p.free <- struct{}{}:
	case <-p.stop:
		return nil, net.ErrClosed
	}
	conn, err := p.Listener.Accept()
	if err != nil {
		<-p.free
		return nil, err
	}
	return &placed{Conn: conn, leave: sync.OnceFunc(func() { <-p.free })}, nil
}

// Close implements net.Listener.
func (p *places) Close() error {
	p.once.Do(func() { close(p.stop) })
	return p.Listener.Close()
}

type placed struct {
	net.Conn
	leave func()
}

func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite closes the write side of the connection.
func (c *placed) CloseWrite() error { return closeWrite(c.Conn) }

// closeWrite half-closes a connection, or closes it completely if half-close is unsupported.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}
