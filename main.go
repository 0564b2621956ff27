// Atelier is a studio for code agents. One binary serves the Studio and the API and contains the command line. It also runs
// programs: a copy of the binary is the first process in each sandbox.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/runtimes/guests"
	"github.com/atelier-run/atelier/server/cli"
	"github.com/atelier-run/atelier/skills"
)

// version is the version of the program. Release builds set it with a linker flag.
var version = "dev"

func main() {
	if code, jailed := guests.Main(os.Args); jailed {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // after the first signal, a second one ends the process at once
	os.Exit(cli.Main(ctx, cli.Process{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: config.Environment, Environ: config.Environ(),
		Version: version, Studio: below(dist, "web/dist/app"), Samples: below(samples, "samples"), Skills: skills.Folders(),
	}))
}
