package routing

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Isolation states how strictly a run must be isolated from other runs.
type Isolation string

// These are the isolations that a call can request.
const (
	StrictIsolation Isolation = "strict" // a new process for the run
	RemoteIsolation Isolation = "remote" // another machine than this server
)

// MaxExpectedMs is the largest expected duration that a call may state, in milliseconds: one day.
const MaxExpectedMs = 86_400_000

// Hints are facts about a run that only the caller knows.
type Hints struct {
	ExpectedMs int64     `json:"expectedMs,omitempty" minimum:"1" maximum:"86400000" doc:"Time that the run is expected to take, in milliseconds (default: the median of the version's recorded runs)."`
	LongJob    bool      `json:"longJob,omitempty" doc:"The run is a long job."`
	Isolation  Isolation `json:"isolation,omitempty" enum:"strict,remote" doc:"strict: the run gets a new process. remote: the run gets another machine; it is refused if there is none."`
	GPU        bool      `json:"gpu,omitempty" doc:"The program needs a GPU. The run is refused if no runtime has one."`
}

// Check returns an error if a hint is out of range.
func (h Hints) Check() error { return h.check("/hints") }

func (h Hints) check(at string) error {
	switch {
	case h.ExpectedMs < 0 || h.ExpectedMs > MaxExpectedMs:
		return fault.Invalid(at+"/expectedMs", "must be between 1 and %d.", MaxExpectedMs)
	case h.Isolation != "" && h.Isolation != StrictIsolation && h.Isolation != RemoteIsolation:
		return fault.Invalid(at+"/isolation", "must be %s or %s.", StrictIsolation, RemoteIsolation)
	}
	return nil
}

// ParseHints reads hints from JSON text. It is for APIs whose messages have no schema. Unknown hints are rejected. at
// is the JSON pointer of the hints in the message, for error messages.
func ParseHints(text []byte, at string) (Hints, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return Hints{}, fault.Invalid(at, "must be an object. Its members may be expectedMs, longJob, isolation and gpu.")
	}
	var h Hints
	known := map[string]struct {
		value any
		kind  string
	}{
		"expectedMs": {&h.ExpectedMs, "a whole number"}, "longJob": {&h.LongJob, "true or false"}, "isolation": {&h.Isolation, "a text"}, "gpu": {&h.GPU, "true or false"},
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, ok := known[name]
		if !ok {
			return Hints{}, fault.Invalid(at, "must not contain %q. The hints are expectedMs, longJob, isolation and gpu.", fault.Shown(name, 100))
		}
		if json.Unmarshal(fields[name], field.value) != nil {
			return Hints{}, fault.Invalid(at+"/"+name, "must be %s.", field.kind)
		}
	}
	if _, given := fields["expectedMs"]; given && h.ExpectedMs < 1 {
		return Hints{}, fault.Invalid(at+"/expectedMs", "must be between 1 and %d.", MaxExpectedMs)
	}
	return h, h.check(at)
}

// Strict returns the process isolation that these hints require.
func (h Hints) Strict() runtimes.Isolation {
	if h.Isolation == StrictIsolation {
		return runtimes.Strict
	}
	return runtimes.Pooled
}
