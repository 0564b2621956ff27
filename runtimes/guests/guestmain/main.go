// Command guestmain serves only the sandboxed roles of the server's binary, for tests.
package main

import (
	"fmt"
	"os"

	"github.com/atelier-run/atelier/runtimes/guests"
)

func main() {
	code, jailed := guests.Main(os.Args)
	if !jailed {
		fmt.Fprintln(os.Stderr, "guestmain is started in a jail, by tests")
		code = 2
	}
	os.Exit(code)
}
