// Package script is a deterministic runtime for tests and demonstrations. Its language is one command a line and cannot
// express a computation, so it needs no jail; everything else of a run, from events to limits, is the code of the real
// runtimes: a script is a worker in this process.
//
//	print TEXT              a line on stdout
//	stderr TEXT             a line on stderr
//	log LEVEL TEXT [{…}]    a log message with fields
//	progress DONE [TOTAL [MESSAGE]]
//	call NAME [JSON]        any host function; its refusal ends the script
//	sleep 50ms              or another duration
//	wait                    until cancelled
//	flood TEXT              a line on stdout, without end
//	output JSON             the result; the last one counts
//	output-size N           a string of N characters as the result
//	echo                    the input as the result
//	environment             the environment as the result
//	include FILE            the commands of another file
//	fail TYPE MESSAGE       ends with an error of this type, at this line
//	house-fail              the house fails
//	# …                     nothing, as an empty line
package script

import (
	"context"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Engine is the runtime. Its zero value is ready.
type Engine struct{}

// New returns an engine.
func New() *Engine { return &Engine{} }

// Run implements runtimes.Runtime.
func (*Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	for line := range strings.Lines(string(job.Files[job.Entrypoint])) {
		if strings.TrimSpace(line) == "house-fail" {
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
