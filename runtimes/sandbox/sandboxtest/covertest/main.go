// Command covertest is a jailed binary that tells which of its statements ran. A plain test does not see what happens in
// a jail, which has neither a place to write a profile to nor a quiet end; so this one, built with -cover, writes its
// counters to stderr, which the server keeps. Its test makes profiles of them.
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
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

func main() {
	real := program.Role()
	serve := real.Serve
	real.Serve = func(conn net.Conn) error {
		t := &teller{Conn: conn}
		defer t.once.Do(tell) // it could not even begin
		return serve(t)
	}
	roles := []sandbox.Role{
		real,
		{Name: "look", Filter: sandbox.FilterProgram, Serve: look},
		{Name: "look", Filter: sandbox.FilterWorker, Serve: look},
	}
	if sandbox.Main(os.Args, roles) {
		return
	}
	// Outside of a jail it describes itself: what the counters count.
	if err := coverage.WriteMeta(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// look ends with its job, which is to have been jailed.
func look(conn net.Conn) error {
	_, _, err := frames.NewReader(conn, map[frames.Kind]int{frames.Job: 0}).Read()
	tell()
	return err
}

// teller tells before the last frame of a job, after which the jail is killed.
type teller struct {
	net.Conn
	once sync.Once
}

func (c *teller) Write(p []byte) (int, error) {
	if len(p) > 0 && frames.Kind(p[0]) == frames.Done {
		c.once.Do(tell)
	}
	return c.Conn.Write(p)
}

func tell() {
	var counters bytes.Buffer
	if err := coverage.WriteCounters(&counters); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Fprintf(os.Stderr, "\nCOUNTERS %s\n", base64.StdEncoding.EncodeToString(counters.Bytes()))
}
