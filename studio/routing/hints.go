package routing

import (
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Isolation is how far a run is kept from others.
type Isolation string

// The isolations that a call can ask for.
const (
	StrictIsolation Isolation = "strict" // a new process
	RemoteIsolation Isolation = "remote" // another machine
)

// MaxExpectedMs is the longest time that a call can expect.
const MaxExpectedMs = 86_400_000

// Hints are facts about a run that only its caller knows.
type Hints struct {
	ExpectedMs int64     `json:"expectedMs,omitempty" minimum:"1" maximum:"86400000" doc:"Time that the run is expected to take, in milliseconds (default: the median of the version's recorded runs)."`
	LongJob    bool      `json:"longJob,omitempty" doc:"The run is a long job."`
	Isolation  Isolation `json:"isolation,omitempty" enum:"strict,remote" doc:"strict: a new process. remote: another machine; the run is refused if there is none."`
	GPU        bool      `json:"gpu,omitempty" doc:"The program needs a GPU. The run is refused if no runtime has one."`
}

// Check refuses hints that are out of range.
func (h Hints) Check() error {
	switch {
	case h.ExpectedMs < 0 || h.ExpectedMs > MaxExpectedMs:
		return fault.Invalid("/hints/expectedMs", "must be between 1 and %d.", MaxExpectedMs)
	case h.Isolation != "" && h.Isolation != StrictIsolation && h.Isolation != RemoteIsolation:
		return fault.Invalid("/hints/isolation", "must be %s or %s.", StrictIsolation, RemoteIsolation)
	}
	return nil
}

// Strict returns the isolation of processes that the hints ask for.
func (h Hints) Strict() runtimes.Isolation {
	if h.Isolation == StrictIsolation {
		return runtimes.Strict
	}
	return runtimes.Pooled
}
