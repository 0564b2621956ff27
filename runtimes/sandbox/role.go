package sandbox

import "net"

// Role is what a jailed copy of our binary does. Serve runs inside the jail, as its process 1, after every privilege was
// dropped; conn carries frames. When Serve returns, or the server closes its end, the jail ends with all its processes.
type Role struct {
	Name   string
	Filter Filter // the only policy under which the role may be started
	Serve  func(conn net.Conn) error
}
