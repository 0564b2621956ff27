package egress

import (
	"net"
	"sync"
)

// places is a listener that has so many connections at once; the next one waits. Unlike the one of x/net/netutil its
// connections can be closed by half, as tunnels are.
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

// CloseWrite tells the other side that nothing more comes.
func (c *placed) CloseWrite() error { return closeWrite(c.Conn) }

// closeWrite closes a connection by half, or as a whole if that is not possible.
func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}
