// Package script is a deterministic runtime for tests and demonstrations. Its language has one command per line and
// cannot express a computation, so it needs no sandbox. A script runs as a worker in the server process. All other parts of
// a run, such as events and limits, use the same code as real runtimes.
//
//	print TEXT              print a line on stdout
//	stderr TEXT             print a line on stderr
//	log LEVEL TEXT [{…}]    send a log message with fields
//	progress DONE [TOTAL [MESSAGE]]
//	call NAME [JSON]        call any host function; an error ends the script
//	sleep DURATION          wait, for example sleep 50ms
//	wait                    wait until cancelled
//	flood TEXT              print a line on stdout, endlessly
//	output JSON             set the result; a later output replaces it
//	output-size N           set a string of N characters as the result
//	echo                    set the input as the result
//	environment             set the environment as the result
//	include FILE            execute the commands of another file
//	fail TYPE MESSAGE       end with an error of this type, at this line
//	server-fail             end with an error of the server instead of the program
//	# …                     a comment; empty lines are ignored too
package script

import (
	"context"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Engine runs scripts. Its zero value is ready for use.
type Engine struct{}

// New returns an engine.
func New() *Engine { return &Engine{} }

// Run implements runtimes.Runtime.
func (*Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	for line := range strings.Lines(string(job.Files[job.Entrypoint])) {
		if strings.TrimSpace(line) == "server-fail" {
			return runtimes.Outcome{}, fault.New(fault.Internal, "The script requested a server failure.")
		}
	}
	stage := newStage(job)
	defer stage.Wait()
	defer stage.Kill()
	outcome, err := worker.Run(ctx, stage, worker.Task{Job: job, Payload: struct{}{}}, host)
	outcome.Level = sandbox.LevelNone
	return outcome, err
}
