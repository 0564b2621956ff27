package app

import (
	"net"
	"net/http"
	"sync"
)

// maxIdle is the maximum number of connections that wait for their next request. It is limited because each of them
// uses about 20 kB, and anybody can open one. If there are too many, a connection is closed after its answer, and its
// client can open a new one.
const maxIdle = 4096

// idleConns counts the connections that wait for a request.
type idleConns struct {
	most int

	mu      sync.Mutex
	waiting map[net.Conn]struct{}
}

func newIdleConns(most int) *idleConns {
	return &idleConns{most: most, waiting: map[net.Conn]struct{}{}}
}

// note implements http.Server.ConnState.
func (i *idleConns) note(conn net.Conn, state http.ConnState) {
	if !i.stays(conn, state) {
		_ = conn.Close() // Nothing to do: the answer is already being sent.
	}
}

func (i *idleConns) stays(conn net.Conn, state http.ConnState) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if state != http.StateIdle {
		delete(i.waiting, conn)
		return true
	}
	if len(i.waiting) >= i.most {
		return false
	}
	i.waiting[conn] = struct{}{}
	return true
}
