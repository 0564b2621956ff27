package sandbox

import "net"

// Role is what a jailed copy of our binary does: Serve or Child, one of them.
type Role struct {
	Name   string
	Filter Filter // the only policy under which the role may be started

	// Serve runs inside the jail, as its process 1, after every privilege was dropped; conn carries frames. When it returns,
	// or the server closes its end, the jail ends with all its processes.
	Serve func(conn net.Conn) error

	// Child looks after one child of a launcher: it runs in the launcher, beside the jail and not in it; conn carries frames.
	// When it returns, the child ends with all its processes.
	Child func(child *Child, conn net.Conn) error
}
