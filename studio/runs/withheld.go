package runs

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// piiRisk is the safety flag of programs whose inputs and outputs may contain personal data. The records of their runs
// contain only digests.
const piiRisk = "pii_risk"

// private reports whether the record of a run must omit the values that the program reads and writes. A run that a
// private run starts is private too.
func private(spec registry.Spec, caller *outer) bool {
	return slices.Contains(spec.SafetyFlags, piiRisk) || caller != nil && caller.execution.private
}

// Withheld returns a run without any values that its program read or wrote. The digests of these values stay.
func Withheld(run registry.Run) registry.Run {
	run.Withheld, run.Input, run.InputPreview, run.Output, run.Stdout, run.Stderr = true, nil, "", nil, "", ""
	if run.Error != nil {
		run.Error = withheldError(*run.Error)
	}
	return run
}

// withheldError returns an error without any text that the program may have written.
func withheldError(e runtimes.ProgramError) *runtimes.ProgramError {
	ours := []runtimes.ErrorType{ // types of errors whose messages the server writes
		runtimes.Timeout, runtimes.Cancelled, runtimes.Interrupted, runtimes.MemoryLimit, runtimes.OutputLimit, runtimes.ProcessLimit, runtimes.DiskLimit, runtimes.RecursionLimit,
	}
	e.Stack, e.Errors = "", nil
	if !slices.Contains(ours, e.Type) {
		e.Message, e.Remedy, e.Grant = "The message is withheld, because the program has the flag pii_risk.", "", nil
	}
	return &e
}

// withheldEvents returns events without any text that the program may have written. Their sequence numbers stay
// unchanged.
func withheldEvents(events []runtimes.Event) []runtimes.Event {
	all := make([]runtimes.Event, 0, len(events))
	for _, e := range events {
		e.Data = withheldData(e)
		all = append(all, e)
	}
	return all
}

func withheldData(e runtimes.Event) json.RawMessage {
	var rest any
	switch e.Kind {
	case runtimes.KindStatus, runtimes.KindDropped, runtimes.KindResult:
		return e.Data
	case runtimes.KindLog:
		data := partOf[runtimes.LogData](e)
		rest = runtimes.LogData{Level: data.Level, Message: "Withheld."}
	case runtimes.KindProgress:
		data := partOf[runtimes.ProgressData](e)
		rest = runtimes.ProgressData{Done: data.Done, Total: data.Total}
	case runtimes.KindCall:
		data := partOf[runtimes.CallData](e)
		data.Error, data.Path = "", ""
		rest = data
	case runtimes.KindEgress:
		data := partOf[runtimes.EgressData](e)
		if data.Decision == runtimes.EgressDenied { // The program chooses the name of a denied host, so the name may be any text.
			data.Host = ""
		}
		rest = data
	case runtimes.KindStdout, runtimes.KindStderr:
		rest = ""
	}
	text, err := encode(rest)
	if err != nil {
		return json.RawMessage(`""`) // The error is impossible: the data are plain structs.
	}
	return text
}

// partOf decodes the data of an event. A field that does not have the expected form stays zero.
func partOf[T any](e runtimes.Event) (data T) {
	_ = json.Unmarshal(e.Data, &data) // The error can be ignored: a zero value contains no text of the program.
	return data
}

// recordOf returns the run in the form in which it may be stored. If the run is private, it contains no values.
func (l *execution) recordOf(run registry.Run) registry.Run {
	if l.private {
		return Withheld(run)
	}
	return run
}

// seenBy returns the state of the run that an actor may read. If the run is private, only its caller gets its values.
func (l *execution) seenBy(actor registry.Actor) registry.Run {
	run := l.snapshot()
	if l.private && run.Actor.ID != actor.ID {
		return Withheld(run)
	}
	return run
}

// Recorded returns a run as it is stored. If the run is private, even its caller gets no values.
func (s *Service) Recorded(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	if l := s.find(actor, id); l != nil {
		return l.recordOf(l.snapshot()), nil
	}
	_, bytes, err := s.ended(ctx, actor, id)
	if err != nil {
		return registry.Run{}, err
	}
	return s.whole(ctx, actor.Workspace, id, bytes)
}

// mayFollow returns Forbidden if the run is private and the actor is not its caller.
func (l *execution) mayFollow(actor registry.Actor) error {
	if l.private && l.job.Workspace == actor.Workspace && l.caller != actor.ID {
		return fault.New(fault.Forbidden, "The program has the flag pii_risk. Only the caller of the run may follow it. Its record can be read when it has ended.")
	}
	return nil
}

const (
	// keptFor is how long after the end of a private run its caller can read its values.
	keptFor = time.Minute
	// mostKept is the maximum number of private runs whose values are kept in memory, and mostKeptBytes is their maximum
	// total size. If a limit is reached, the caller gets the values only in the answer to the request.
	mostKept      = 256
	mostKeptBytes = 64 << 20
)

// kept is a private run that has just ended, together with its values.
type kept struct {
	execution *execution
	bytes     int64
	timer     *time.Timer
}

// keep stores the values of a private run in memory for a short time, so that a caller that does not wait for the
// answer can read them after the run has ended.
func (s *Service) keep(l *execution, run registry.Run) {
	bytes := int64(len(run.Input) + len(run.Output) + len(run.Stdout) + len(run.Stderr))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.kept) >= mostKept || s.keptBytes+bytes > mostKeptBytes {
		return
	}
	s.keptBytes += bytes
	s.kept[run.ID] = kept{l, bytes, time.AfterFunc(keptFor, func() { s.forget(run.ID) })}
}

func (s *Service) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.kept[id]; ok {
		one.timer.Stop()
		s.keptBytes -= one.bytes
		delete(s.kept, id)
	}
}

// justEnded returns a private run of the actor that has just ended, or nil if there is none.
func (s *Service) justEnded(actor registry.Actor, id string) *execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.kept[id]
	if !ok || one.execution.job.Workspace != actor.Workspace || one.execution.caller != actor.ID {
		return nil
	}
	return one.execution
}
