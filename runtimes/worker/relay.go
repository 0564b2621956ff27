package worker

import (
	"encoding/json"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// Relay converts the output and the result of a program on another machine to the events and the outcome of a run. It
// applies the same limits and texts as for a program in a local sandbox. All its inputs are untrusted.
type Relay struct {
	output *output
	host   runtimes.Host
	job    runtimes.Job
	over   bool
}

// NewRelay returns a Relay for one run. Its methods must not be called concurrently. The caller must call Close before it
// reports the end of the run.
func NewRelay(job runtimes.Job, host runtimes.Host) *Relay {
	return &Relay{output: newOutput(host, job.Limits.OutputBytes, nil, ""), host: host, job: job}
}

// Stdout adds output of the program to the events and reports whether the output is within its limit.
func (r *Relay) Stdout(text []byte) bool { return r.write(frames.Stdout, text) }

// Stderr does the same as Stdout for the program's stderr.
func (r *Relay) Stderr(text []byte) bool { return r.write(frames.Stderr, text) }

func (r *Relay) write(kind frames.Kind, text []byte) bool {
	if !r.output.write(kind, text) {
		r.over = true
	}
	return !r.over
}

// Sync emits all buffered output. An event that the caller emits afterwards thus follows all earlier output.
func (r *Relay) Sync() { r.output.sync() }

// Close emits the remaining output.
func (r *Relay) Close() { r.output.close(false) }

// Succeeded returns the outcome of a program with a result. The outcome is an error if the result is invalid, or if the
// result or the output exceeds its limit.
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

// Failed returns the outcome of a program that reported an error. The error is sanitized first.
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

// TooLarge returns the outcome of a run whose result exceeds the output limit.
func (r *Relay) TooLarge() runtimes.Outcome {
	return runtimes.Outcome{Error: resultTooLarge(r.job.Limits)}
}

// Drop adds to the number of dropped bytes. n is the number of output bytes that the other machine dropped.
func (r *Relay) Drop(bytes int64) { r.output.drop(int(min(max(bytes, 0), maxDropped))) }

// maxDropped is the maximum number of bytes that Drop accepts. It is limited because the other machine is untrusted.
const maxDropped = 1 << 40
