package app

import (
	"net"
	"net/http"
	"testing"
)

// TestIdleConns_BeyondLimit_Closed checks that an idle connection beyond the limit is closed. Without the limit,
// clients without a credential could make the server use any amount of memory.
func TestIdleConns_BeyondLimit_Closed(t *testing.T) {
	t.Parallel()
	idle := newIdleConns(2)
	begin := func() (conn *closeable, closed func() bool) {
		conn = &closeable{}
		idle.note(conn, http.StateNew)
		idle.note(conn, http.StateActive)
		idle.note(conn, http.StateIdle)
		return conn, func() bool { return conn.closed }
	}
	first, firstClosed := begin()
	_, secondClosed := begin()
	_, thirdClosed := begin()
	if firstClosed() || secondClosed() || !thirdClosed() {
		t.Errorf("closed: %v, %v, %v", firstClosed(), secondClosed(), thirdClosed())
	}
	idle.note(first, http.StateActive) // The next request of the first connection frees a place for another connection.
	if _, closed := begin(); closed() {
		t.Error("closed with room")
	}
	idle.note(first, http.StateIdle)
	if !first.closed {
		t.Error("it waits above the limit")
	}
}

// closeable is a connection that only records whether it was closed.
type closeable struct {
	net.Conn
	closed bool
}

func (c *closeable) Close() error {
	c.closed = true
	return nil
}
