// Package replay runs recorded inputs of a version with the draft, before the draft is published. It reports the
// changes that callers would notice: different outputs, failing runs and slower runs.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/runs"
)

// Runs executes programs and reads recorded runs.
type Runs interface {
	Execute(ctx context.Context, actor registry.Actor, req runs.Request) (runs.Result, error)
	List(ctx context.Context, actor registry.Actor, filter registry.RunFilter) (registry.RunPage, error)
	Get(ctx context.Context, actor registry.Actor, id string) (registry.Run, error)
}

// Resolver returns the version that a reference selects.
type Resolver interface {
	Resolve(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error)
}

// Service replays recorded inputs. It is safe for concurrent use.
type Service struct {
	runs     Runs
	resolver Resolver
}

// New returns the service.
func New(runs Runs, resolver Resolver) *Service { return &Service{runs, resolver} }

// These are the limits of a replay.
const (
	DefaultRuns = 20
	MaxRuns     = 100
	looksAt     = 1000 // maximum number of recorded runs in which different inputs are searched
)

// A run counts as slower if it took more than slowerTimes as long and at least slowerMs longer.
const (
	slowerTimes = 2
	slowerMs    = 50
)

// Request describes a replay. Version "" means the latest version. Runs 0 means DefaultRuns.
type Request struct {
	Version string
	Seen    registry.Seen // revision of the draft to test
	Runs    int
	Trigger registry.Trigger
}

// Verdict is the result of comparing a recorded run with its replay.
type Verdict string

// These are the verdicts. Refused means that the draft's input schema rejects the input.
const (
	Same    Verdict = "same"
	Changed Verdict = "changed"
	Fails   Verdict = "fails"
	Refused Verdict = "refused"
	Fixed   Verdict = "fixed"
)

// Side holds the fields of a run that are compared.
type Side struct {
	RunID   string          `json:"runId,omitempty"`
	Status  registry.Status `json:"status,omitempty"`
	Output  json.RawMessage `json:"output,omitempty" doc:"Output of the run. Absent if it is large."`
	Message string          `json:"message,omitempty" doc:"Error message, or the reason why the input was refused."`
	RunMs   float64         `json:"runMs"`
}

// Item is the result for one input.
type Item struct {
	Verdict Verdict `json:"verdict" enum:"same,changed,fails,refused,fixed"`
	Slower  bool    `json:"slower"`
	Before  Side    `json:"before"`
	After   Side    `json:"after"`
}

// Report is the result of a replay.
type Report struct {
	Agent   string         `json:"agent"`
	Version string         `json:"version" doc:"Version whose recorded inputs were used."`
	Draft   int64          `json:"draftRevision,omitempty" doc:"Revision of the draft that was run. Absent if no input was run."`
	Counts  map[string]int `json:"counts" doc:"Number of inputs by verdict, and of slower runs."`
	Items   []Item         `json:"items" doc:"Results, newest input first. Each input occurs once."`
}

// Run replays recorded inputs with the draft. The new runs are recorded. Each new run has the recorded run as its
// parent. Errors: NotFound for the agent or the version.
func (s *Service) Run(ctx context.Context, actor registry.Actor, agent string, req Request) (Report, error) {
	if req.Version == "" {
		req.Version = registry.Latest
	}
	if req.Runs == 0 {
		req.Runs = DefaultRuns
	}
	if req.Runs < 0 || req.Runs > MaxRuns {
		return Report{}, fault.Invalid("/runs", "must be from 1 to %d.", MaxRuns)
	}
	v, err := s.resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: agent, Version: req.Version})
	if err != nil {
		return Report{}, err
	}
	recorded, err := s.recorded(ctx, actor, v, req.Runs)
	if err != nil {
		return Report{}, err
	}
	report := Report{Agent: v.Agent, Version: v.Version, Counts: map[string]int{}, Items: []Item{}}
	for _, before := range recorded {
		item, revision, err := s.replay(ctx, actor, v, before, req)
		if err != nil {
			return Report{}, fmt.Errorf("replay %s: %w", before.ID, err)
		}
		if revision != 0 { // Use the same revision for all inputs, even if the draft is saved in the meantime.
			report.Draft, req.Seen = revision, registry.SeenRevision(revision)
		}
		report.Counts[string(item.Verdict)]++
		if item.Slower {
			report.Counts["slower"]++
		}
		report.Items = append(report.Items, item)
	}
	return report, nil
}

// Differing replays inputs of the latest version. It returns the inputs whose result changed, failed or was refused. If
// the agent has no version, it returns none, because there is nothing to compare with.
func (s *Service) Differing(ctx context.Context, actor registry.Actor, agent string, seen registry.Seen, count int) ([]registry.Regression, error) {
	// A NotFound error means that there is no version only here. A later NotFound means that the replay could not run.
	if _, err := s.resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: agent, Version: registry.Latest}); fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	report, err := s.Run(ctx, actor, agent, Request{Seen: seen, Runs: count, Trigger: registry.TriggerAPI})
	if err != nil {
		return nil, err
	}
	var differing []registry.Regression
	for _, item := range report.Items {
		if item.Verdict != Same && item.Verdict != Fixed {
			differing = append(differing, registry.Regression{Version: report.Version, Message: fmt.Sprintf("The draft returns a different output for the input of run %s: %s.", item.Before.RunID, item.Verdict)})
		}
	}
	return differing, nil
}

// recorded returns the newest completed runs of a version. Of several runs with the same input it returns only one.
func (s *Service) recorded(ctx context.Context, actor registry.Actor, v registry.Version, count int) ([]registry.Run, error) {
	filter := registry.RunFilter{Agent: v.AgentID, Version: v.Version, Limit: 200}
	seen, looked, withheld, all := map[string]bool{}, 0, 0, []registry.Run{}
	for {
		page, err := s.runs.List(ctx, actor, filter)
		if err != nil {
			return nil, err
		}
		for _, run := range page.Items {
			if !slices.Contains([]registry.Status{registry.Succeeded, registry.Failed, registry.TimedOut}, run.Status) || seen[run.InputsHash] {
				continue
			}
			seen[run.InputsHash] = true
			if run.Withheld {
				withheld++
				continue
			}
			whole, err := s.runs.Get(ctx, actor, run.ID)
			if fault.Is(err, fault.NotFound) {
				continue // The run was deleted in the meantime, because its retention time had ended.
			}
			if err != nil {
				return nil, err
			}
			if all = append(all, whole); len(all) == count {
				return all, nil
			}
		}
		looked += len(page.Items)
		if filter.Cursor = page.NextCursor; filter.Cursor == "" || looked >= looksAt {
			if len(all) == 0 && withheld > 0 {
				return nil, fault.New(fault.Conflict, "The inputs of %s were not stored, because it has the flag pii_risk. So they cannot be replayed. Use tests instead.", v.Reference())
			}
			return all, nil
		}
	}
}

// replay runs one input with the draft. It returns the result and the revision of the draft that ran.
func (s *Service) replay(ctx context.Context, actor registry.Actor, v registry.Version, before registry.Run, req Request) (Item, int64, error) {
	item := Item{Verdict: Same, Before: sideOf(before)}
	after, err := s.runs.Execute(ctx, actor, runs.Request{
		Agent: v.AgentID, Version: registry.DraftVersion, Seen: req.Seen, Input: before.Input, Trigger: req.Trigger, ParentRunID: before.ID,
	})
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Code == fault.InvalidInput {
		item.Verdict, item.After.Message = Refused, refused.Message
		for _, d := range refused.Details {
			item.After.Message += " " + d.Pointer + " " + d.Message
		}
		return item, 0, nil
	}
	if err != nil {
		return item, 0, err
	}
	item.After = sideOf(after.Run)
	was, is := before.Status == registry.Succeeded, after.Status == registry.Succeeded
	switch {
	case was && !is:
		item.Verdict = Fails
	case !was && is:
		item.Verdict = Fixed
	case was && before.OutputsHash != after.OutputsHash, !was && typeOf(before) != typeOf(after.Run):
		item.Verdict = Changed
	}
	item.Slower = was && is && after.Metrics.RunMs > slowerTimes*before.Metrics.RunMs && after.Metrics.RunMs > before.Metrics.RunMs+slowerMs
	return item, after.DraftRevision, nil
}

func typeOf(run registry.Run) string {
	if run.Error == nil {
		return ""
	}
	return string(run.Error.Type)
}

// maxShown is the maximum size in bytes of an output in a report.
const maxShown = 4 << 10

func sideOf(run registry.Run) Side {
	side := Side{RunID: run.ID, Status: run.Status, RunMs: run.Metrics.RunMs}
	if len(run.Output) <= maxShown {
		side.Output = run.Output
	}
	if run.Error != nil {
		side.Message = run.Error.Message
	}
	return side
}
