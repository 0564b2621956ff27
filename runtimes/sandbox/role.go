package sandbox

import "net"

// Role is what a jailed copy of our binary does: Serve or Cell, one of them.
type Role struct {
	Name   string
	Filter Filter // the only policy under which the role may be started

	// Serve runs inside the jail, as its process 1, after every privilege was dropped; conn carries frames. When it returns,
	// or the server closes its end, the jail ends with all its processes.
	Serve func(conn net.Conn) error

	// Cell looks after one cell of a starter: it runs in the starter, beside the jail and not in it; conn carries frames.
	// When it returns, the cell ends with all its processes.
	Cell func(cell *Cell, conn net.Conn) error
}
