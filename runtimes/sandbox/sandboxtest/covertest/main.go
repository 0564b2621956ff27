// Command covertest is a jailed binary that reports which of its statements were executed. go test cannot report that,
// because a jail cannot write a profile and is often killed. So this binary is built with -cover and writes its
// counters to stderr, which the server keeps. The test of this package makes profiles of the counters.
package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"runtime/coverage"
	"sync"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/node/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

func main() {
	roles := []launcher.Role{
		{Name: "look", Filter: sandbox.FilterProgram, Serve: look},
		{Name: "look", Filter: sandbox.FilterWorker, Serve: look},
		{Name: guest.RoleName, Filter: sandbox.FilterWorker, Serve: guest.Serve},
	}
	for _, real := range program.Roles() {
		serve := real.Child
		real.Child = func(child *launcher.Child, conn net.Conn) error {
			t := &counterConn{Conn: conn}
			err := serve(child, t)
			t.writeCounters() // for a child that ended before it sent the last frame of a job
			return err
		}
		roles = append(roles, real)
	}
	if code, jailed := launcher.Main(os.Args, roles); jailed {
		printCounters()
		os.Exit(code)
	}
	// outside of a jail, the command prints its own metadata, which give the counters their meaning
	if err := coverage.WriteMeta(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// look returns at once. Its jail only has to be set up.
func look(conn net.Conn) error {
	_, _, err := frames.NewReader(conn, map[frames.Kind]int{frames.Job: 0}).Read()
	return err
}

// counterConn writes the counters before the last frame of a job, as if the program had printed them.
type counterConn struct {
	net.Conn
	once sync.Once
}

func (c *counterConn) Write(p []byte) (int, error) {
	if len(p) > 0 && frames.Kind(p[0]) == frames.Done {
		c.writeCounters()
	}
	return c.Conn.Write(p)
}

func (c *counterConn) writeCounters() {
	c.once.Do(func() { _ = frames.NewWriter(c.Conn).Write(frames.Stderr, counters()) })
}

func printCounters() { _, _ = os.Stderr.Write(counters()) }

func counters() []byte {
	var counters bytes.Buffer
	if err := coverage.WriteCounters(&counters); err != nil {
		return []byte(err.Error())
	}
	return fmt.Appendf(nil, "\nCOUNTERS %s\n", base64.StdEncoding.EncodeToString(counters.Bytes()))
}
