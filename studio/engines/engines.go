// Package engines selects the engine of a program whose runtime is auto, and explains the choice. JavaScript runs in
// goja by default. If this server has Node, a program runs in Node when it uses features that goja lacks or when its
// draft used much CPU time in goja.
package engines

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/packages"
)

const (
	measured  = 20   // maximum number of a draft's newest runs whose CPU time is measured
	lookedAt  = 100  // maximum number of a draft's newest runs that are read to find these; some runs may have executed other code
	mostKept  = 1000 // maximum number of programs in the cache
	mostNamed = 3    // maximum number of missing features that a message lists
)

// Inspector parses code in the sandbox.
type Inspector interface {
	Check(ctx context.Context, req inspect.Request) (inspect.Report, error)
}

// Specs returns the runtimes of a language.
type Specs interface {
	Runtime(spec registry.Spec) (runtimes.Name, error)
}

// Runs lists recorded runs.
type Runs interface {
	ListRuns(ctx context.Context, workspace string, filter registry.RunFilter) (registry.RunPage, error)
}

// Options configures a Chooser. Lacks returns the reason why this server cannot run an engine and how to fix that, or
// "" if the server can run the engine. If the median CPU time of a draft's runs in goja reaches SlowMs milliseconds,
// Node is selected.
type Options struct {
	Inspector Inspector
	Specs     Specs
	Runs      Runs
	Lacks     func(runtimes.Name) string
	SlowMs    func(runtimes.Language) float64
}

// Chooser selects engines. It is safe for concurrent use.
type Chooser struct {
	Options

	mu   sync.Mutex
	gaps map[string][]fault.Detail // facts about programs, by language and code digest
}

// New returns a chooser.
func New(o Options) *Chooser { return &Chooser{Options: o, gaps: map[string][]fault.Detail{}} }

// Runtime returns the engine for a run of a draft or of inline code. It ignores the CPU time of earlier runs, so that
// the engine of a draft does not change until the draft is published.
func (c *Chooser) Runtime(ctx context.Context, spec registry.Spec) (runtimes.Name, error) {
	name, _, err := c.Local(ctx, spec)
	return name, err
}

// Local returns the same engine as Runtime, with the reason if it is Node. For any other engine the reason is "".
func (c *Chooser) Local(ctx context.Context, spec registry.Spec) (name runtimes.Name, why string, err error) {
	name, open, err := c.open(spec)
	if err != nil || !open || c.Lacks(runtimes.NodeEngine) != "" {
		return name, "", err
	}
	if why = needsNode(spec); why != "" {
		return runtimes.NodeEngine, chosen(why), nil
	}
	gaps, _, err := c.missing(ctx, spec)
	if err != nil || len(gaps) == 0 {
		return name, "", err
	}
	return runtimes.NodeEngine, chosen(named(gaps)), nil
}

// chosen returns the sentence with the reason for Node.
func chosen(why string) string { return "Node was chosen: " + why + "." }

// Choose returns the permanent engine of a version that is made from a draft, with the reason. The choice is nil if
// only one engine is possible, or if the program cannot run in any engine.
func (c *Chooser) Choose(ctx context.Context, workspace, agentID string, spec registry.Spec) (runtimes.Name, *registry.RuntimeChoice, error) {
	name, open, err := c.open(spec)
	if err != nil || !open {
		return name, nil, err
	}
	choice := &registry.RuntimeChoice{Runtime: name, Reason: registry.RuntimeFits, Message: "Runs in the fast engine (goja)."}
	if why := needsNode(spec); why != "" {
		c.settle(choice, registry.RuntimeGap, why)
		return choice.Runtime, choice, nil
	}
	var broken bool
	if choice.Gaps, broken, err = c.missing(ctx, spec); err != nil {
		return "", nil, err
	}
	if broken {
		name, err = c.Runtime(ctx, spec)
		return name, nil, err
	}
	if choice.Runs, choice.CPUMs, err = c.measure(ctx, workspace, agentID, spec); err != nil {
		return "", nil, err
	}
	took := fmt.Sprintf("%.0f ms of CPU time per run", choice.CPUMs)
	if choice.Runs > 1 {
		took += fmt.Sprintf(" (median of %d)", choice.Runs)
	}
	switch {
	case len(choice.Gaps) > 0:
		c.settle(choice, registry.RuntimeGap, named(choice.Gaps))
	case choice.Runs > 0 && choice.CPUMs >= c.SlowMs(spec.Language):
		c.settle(choice, registry.RuntimeSlow, fmt.Sprintf("about %s in goja; from %.0f ms on, Node is faster", took, c.SlowMs(spec.Language)))
	case choice.Runs > 0:
		choice.Message += " About " + took + "."
	}
	return choice.Runtime, choice, nil
}

// needsNode returns the reason why the settings of a program require Node, or "" if they do not require it.
func needsNode(spec registry.Spec) string {
	switch {
	case spec.Capabilities.Subprocess:
		return "only Node can start processes"
	case packages.Needed(spec):
		return "packages are written for Node; choose goja if its own features are enough for them"
	}
	return ""
}

// settle selects Node for the given reason. If Node is not available, settle explains that instead.
func (c *Chooser) settle(choice *registry.RuntimeChoice, reason registry.RuntimeReason, why string) {
	if lacks := c.Lacks(runtimes.NodeEngine); lacks != "" {
		choice.Reason = registry.RuntimeUnavailable
		choice.Message = fmt.Sprintf("Node would be the better choice: %s. This server uses goja instead. %s", why, lacks)
		return
	}
	choice.Runtime, choice.Reason, choice.Message = runtimes.NodeEngine, reason, chosen(why)
}

// named returns a text that lists the first missing features. It omits the advice about goja.
func named(gaps []fault.Detail) string {
	var all []string
	for _, gap := range gaps[:min(len(gaps), mostNamed)] {
		what, _, _ := strings.Cut(strings.TrimSuffix(gap.Message, "."), ": ")
		if gap.File != "" {
			what += fmt.Sprintf(" (%s:%d)", gap.File, gap.Line)
		}
		all = append(all, what)
	}
	if more := len(gaps) - mostNamed; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}

// open reports whether more than one engine is possible. If not, it returns the only engine.
func (c *Chooser) open(spec registry.Spec) (runtimes.Name, bool, error) {
	name, err := c.Specs.Runtime(spec)
	return name, err == nil && name == runtimes.Goja && (spec.Runtime == "" || spec.Runtime == runtimes.Auto), err
}

// missing returns the features that a program uses and goja lacks. broken reports whether the program has errors in
// every engine.
func (c *Chooser) missing(ctx context.Context, spec registry.Spec) (gaps []fault.Detail, broken bool, err error) {
	sum, err := digest.Code(spec.Files, spec.Entrypoint)
	if err != nil {
		return nil, false, err
	}
	key := string(spec.Language) + " " + sum
	c.mu.Lock()
	gaps, known := c.gaps[key]
	c.mu.Unlock()
	if known {
		return gaps, false, nil
	}
	files := make(map[string][]byte, len(spec.Files))
	for path, file := range spec.Files {
		files[path] = file
	}
	report, err := c.Inspector.Check(ctx, inspect.Request{Language: spec.Language, Runtime: runtimes.Auto, Files: files, Entrypoint: spec.Entrypoint, Unpacked: packages.Needed(spec)})
	if err != nil {
		return nil, false, err
	}
	if len(report.Errors) > 0 {
		return report.Gaps, true, nil // Do not cache the result: a parser that ran out of time also reports an error.
	}
	gaps = report.Gaps
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.gaps) >= mostKept {
		clear(c.gaps)
	}
	c.gaps[key] = gaps
	return gaps, false, nil
}

// measure returns the number of the draft's newest runs that executed this code in goja, and the median of their CPU
// time in milliseconds.
func (c *Chooser) measure(ctx context.Context, workspace, agentID string, spec registry.Spec) (int, float64, error) {
	if agentID == "" {
		return 0, 0, nil
	}
	sum, err := digest.Code(spec.Files, spec.Entrypoint)
	if err != nil {
		return 0, 0, err
	}
	page, err := c.Runs.ListRuns(ctx, workspace, registry.RunFilter{Agent: agentID, Version: registry.DraftVersion, Limit: lookedAt})
	if err != nil {
		return 0, 0, err
	}
	var times []float64
	for _, run := range page.Items {
		ended := run.Status == registry.Succeeded || run.Status == registry.Failed || run.Status == registry.TimedOut
		if ended && run.CodeDigest == sum && run.Runtime == runtimes.Goja && run.Metrics.CPUMs > 0 && len(times) < measured {
			times = append(times, run.Metrics.CPUMs)
		}
	}
	if len(times) == 0 {
		return 0, 0, nil
	}
	slices.Sort(times)
	return len(times), times[len(times)/2], nil
}
