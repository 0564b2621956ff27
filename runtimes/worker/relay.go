package worker

import (
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// Relay turns the output and the result of a program that another machine runs into the events and the outcome of a run,
// with the same limits and texts as for a program in a sandbox of this machine. Everything that it is given is untrusted.
type Relay struct {
	output *output
	host   runtimes.Host
	job    runtimes.Job
	over   bool
}

// NewRelay returns the relay of one run. Close must be called before the end of the run is reported. Its methods must
// not be called concurrently.
func NewRelay(job runtimes.Job, host runtimes.Host) *Relay {
	return &Relay{output: newOutput(host, job.Limits.OutputBytes, nil, ""), host: host, job: job}
}

// Stdout takes output of the program and reports whether it is within the limit.
func (r *Relay) Stdout(text []byte) bool { return r.write(frames.Stdout, text) }

// Stderr is like Stdout.
func (r *Relay) Stderr(text []byte) bool { return r.write(frames.Stderr, text) }

func (r *Relay) write(kind frames.Kind, text []byte) bool {
	if !r.output.write(kind, text) {
		r.over = true
	}
	return !r.over
}

// Sync makes events of all output so far, so that the next event of another kind keeps its place.
func (r *Relay) Sync() { r.output.sync() }

// Close makes events of the remaining output.
func (r *Relay) Close() { r.output.close(false) }

// Succeeded returns the outcome of a program with its result, or an error if the result or the output is over its limit.
func (r *Relay) Succeeded(result json.RawMessage) runtimes.Outcome {
	switch {
	case r.over:
		return r.Reached(runtimes.OutputLimit)
	case len(result) == 0:
		return runtimes.Outcome{Output: json.RawMessage("null")}
	case int64(len(result)) > r.job.Limits.OutputBytes:
		return r.TooLarge()
	}
	output, err := checkResult(result)
	if err != nil {
		return runtimes.Failed(runtimes.InvalidOutput, cut(err.Error(), maxMessage))
	}
	return runtimes.Outcome{Output: output}
}

// Failed returns the outcome of a program with its report of its failure, as far as that is plausible.
func (r *Relay) Failed(failure runtimes.ProgramError) runtimes.Outcome {
	if r.over {
		return r.Reached(runtimes.OutputLimit)
	}
	return runtimes.Outcome{Error: complete(clean(failure, r.job.Files), r.job.Limits)}
}

// Reached returns the outcome of a run that reached a limit or was cancelled.
func (r *Relay) Reached(kind runtimes.ErrorType) runtimes.Outcome {
	return runtimes.Outcome{Error: reached(kind, r.job.Limits)}
}

// TooLarge returns the outcome of a run whose result is over the limit of its output.
func (r *Relay) TooLarge() runtimes.Outcome {
	return runtimes.Outcome{Error: resultTooLarge(r.job.Limits)}
}

// Drop counts output that the other machine dropped.
func (r *Relay) Drop(bytes int64) { r.output.drop(int(min(max(bytes, 0), maxDropped))) }

// maxDropped bounds a number that another machine names.
const maxDropped = 1 << 40
