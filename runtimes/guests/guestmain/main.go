// Command guestmain is the jailed half of the binary alone, for tests.
package main

import (
	"fmt"
	"os"

	"github.com/atelier-run/atelier/runtimes/guests"
)

func main() {
	if !guests.Main(os.Args) {
		fmt.Fprintln(os.Stderr, "guestmain is started in a jail, by tests")
		os.Exit(2)
	}
}
