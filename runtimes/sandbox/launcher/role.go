package launcher

import (
	"net"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Role is a task of the server's binary in a jail. It has either Serve or Child.
type Role struct {
	Name   string
	Filter wire.Filter // the only policy under which the role may be started

	// Serve runs inside the jail, in process 1, after every privilege was dropped. conn carries frames. When Serve returns
	// or the server closes its end of the connection, the jail ends with all its processes.
	Serve func(conn net.Conn) error

	// Child serves one child of a launcher. It runs in the launcher, outside of the child's jail. conn carries frames.
	// When it returns, the child ends with all its processes.
	Child func(c *Child, conn net.Conn) error
}
