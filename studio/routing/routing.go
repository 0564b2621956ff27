// Package routing chooses the runtime of a run with a table of rules, and explains the choice. If a program names its
// runtime, that runtime is used. A version keeps the runtime that was chosen when it was published, unless a rule
// requires another runtime for a call.
package routing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// Specs checks whether a runtime can execute a program.
type Specs interface {
	Runtime(spec registry.Spec) (runtimes.Name, error)
	Complete(spec registry.Spec) (registry.Spec, error)
	Rules(workspace string, spec registry.Spec) *runtimes.Rules
}

// Engines selects the local runtime for a draft or inline code, with the reason for the choice.
type Engines interface {
	Local(ctx context.Context, spec registry.Spec) (name runtimes.Name, why string, err error)
}

// Options configures a Router. Lacks returns the reason why this server cannot run an engine and how to fix that, or ""
// if it can.
type Options struct {
	Table    Table
	Specs    Specs
	Engines  Engines
	Lacks    func(runtimes.Name) string
	Features func(runtimes.Name) ([]runtimes.Feature, bool)
	Runs     Runs // nil if no durations are recorded
}

// Router chooses runtimes. It is safe for concurrent use.
type Router struct {
	Options
	learned learned
	timed   bool
}

// New returns a router.
func New(o Options) *Router {
	return &Router{Options: o, learned: learned{runs: o.Runs, versions: map[version][]float64{}}, timed: o.Table.timed()}
}

// Ended adds the duration of a run that has ended.
func (r *Router) Ended(run registry.Run) { r.learned.add(run) }

// Call is a program that is about to run.
type Call struct {
	Workspace string
	Spec      registry.Spec
	Version   *registry.Version // nil for a draft or inline code
	Private   bool              // whether the data must not be sent to another service; this does not apply to a runtime that the program names
	Hints     Hints
}

// RouteExplanation contains the runtime of a call and the reason.
type RouteExplanation struct {
	Runtime     runtimes.Name    `json:"runtime" doc:"Runtime of the run, empty if it is refused."`
	Rule        string           `json:"rule" doc:"Rule that decides; explicit if the program sets its runtime."`
	Reason      string           `json:"reason" doc:"The reason as a sentence."`
	Refused     *RouteRefusal    `json:"refused,omitempty" doc:"Reason why the run would be refused."`
	ExpectedMs  float64          `json:"expectedMs,omitempty" doc:"Time that the run is expected to take."`
	LearnedFrom int              `json:"learnedFrom,omitempty" doc:"Number of recorded runs whose median duration is expectedMs. Absent if the call sets expectedMs."`
	Considered  []ConsideredRule `json:"considered" doc:"The rules up to the one that decides."`
	Unavailable []MissingRuntime `json:"unavailable" doc:"Runtimes of the rules that this server cannot use, with the remedy."`
}

// RouteRefusal is the error with which a run of this call would be refused.
type RouteRefusal struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Errors  []fault.Detail `json:"errors,omitempty"`
}

// ConsideredRule is a rule that was compared with a call, with the result.
type ConsideredRule struct {
	Rule       string           `json:"rule"`
	Applies    bool             `json:"applies"`
	Why        string           `json:"why" doc:"The condition that decides: one that is met, or the first that is not met."`
	Candidates []RouteCandidate `json:"candidates,omitempty"`
}

// RouteCandidate is a runtime that a matching rule names.
type RouteCandidate struct {
	Runtime runtimes.Name `json:"runtime"`
	Usable  bool          `json:"usable"`
	Why     string        `json:"why,omitempty" doc:"Reason why the runtime is not usable."`
	lacking bool          // whether the only reason is that this server lacks the runtime
}

// MissingRuntime is a runtime that this server cannot use.
type MissingRuntime struct {
	Runtime runtimes.Name `json:"runtime"`
	Remedy  string        `json:"remedy"`
}

// RouterState is the routing table that the server uses, with the state of its runtimes.
type RouterState struct {
	Source   string         `json:"source" enum:"shipped,file" doc:"shipped: the built-in table of this server. file: the file of --router."`
	Rules    []RoutingRule  `json:"rules" doc:"Rules in the order in which they are checked. They do not apply to a program that sets its runtime (rule explicit)."`
	Runtimes []ReadyRuntime `json:"runtimes" doc:"Runtimes in the rules, and whether this server can use them."`
}

// ReadyRuntime states whether this server can use a runtime.
type ReadyRuntime struct {
	Runtime runtimes.Name `json:"runtime"`
	Ready   bool          `json:"ready"`
	Remedy  string        `json:"remedy,omitempty" doc:"How to make the runtime usable."`
}

// State returns the routing table that the server uses. Conditions about workspaces show only the given workspace.
func (r *Router) State(workspace string) RouterState {
	state := RouterState{Source: "shipped", Rules: slices.Clone(r.Table.Rules), Runtimes: []ReadyRuntime{}}
	for i, rule := range state.Rules {
		if rule.When.Workspaces != nil {
			state.Rules[i].When.Workspaces = slices.DeleteFunc(append([]string{}, rule.When.Workspaces...), func(id string) bool { return id != workspace })
		}
	}
	if r.Table.file {
		state.Source = "file"
	}
	for _, name := range choices() {
		if name == Local || !slices.ContainsFunc(r.Table.Rules, func(rule RoutingRule) bool { return slices.Contains(rule.Runtimes, name) }) {
			continue
		}
		lacks := r.Lacks(name)
		state.Runtimes = append(state.Runtimes, ReadyRuntime{name, lacks == "", lacks})
	}
	return state
}

// Route returns the runtime of a call, with the rule and the reason of the choice. Errors: RuntimeUnavailable,
// InvalidInput.
func (r *Router) Route(ctx context.Context, c Call) (runtimes.Name, registry.Route, error) {
	d := decision{router: r, call: c}
	err := d.decide(ctx)
	return d.runtime, d.route, err
}

// Explain returns the decision about a call, with all rules and runtimes that were considered.
func (r *Router) Explain(ctx context.Context, c Call) (RouteExplanation, error) {
	d := decision{router: r, call: c, explains: true}
	err := d.decide(ctx)
	e := RouteExplanation{
		Runtime: d.runtime, Rule: d.route.Rule, Reason: d.route.Reason, ExpectedMs: d.expected, LearnedFrom: d.runs,
		Considered: d.considered, Unavailable: d.unavailable(),
	}
	var refused *fault.Error
	if errors.As(err, &refused) && (refused.Code == fault.RuntimeUnavailable || refused.Code == fault.InvalidInput) {
		e.Runtime, e.Refused, err = "", &RouteRefusal{refused.Code, refused.Message, refused.Details}, nil
	}
	return e, err
}

// decision evaluates the table for one call.
type decision struct {
	router   *Router
	call     Call
	explains bool

	runtime runtimes.Name
	route   registry.Route

	local      runtimes.Name
	localWhy   string
	expected   float64
	runs       int
	considered []ConsideredRule
}

func (d *decision) decide(ctx context.Context) error {
	if err := d.call.Hints.Check(); err != nil {
		return err
	}
	if d.explicit() {
		return d.keep()
	}
	if err := d.prepare(ctx); err != nil {
		return err
	}
	for _, rule := range d.router.Table.Rules {
		why, applies := d.match(rule.When)
		if !applies {
			d.note(ConsideredRule{Rule: rule.Name, Why: why})
			continue
		}
		candidates := make([]RouteCandidate, 0, len(rule.Runtimes))
		for _, name := range rule.Runtimes {
			one := d.candidate(name)
			candidates = append(candidates, one)
			if one.Usable {
				d.runtime, d.route = one.Runtime, registry.Route{Rule: rule.Name, Reason: d.reason(why, one.Runtime)}
				d.note(ConsideredRule{rule.Name, true, why, candidates})
				return nil
			}
		}
		d.note(ConsideredRule{rule.Name, true, why, candidates})
		if rule.Otherwise == Refuse {
			return d.refuse(rule, why, candidates)
		}
	}
	last := d.router.Table.Rules[len(d.router.Table.Rules)-1]
	return d.refuse(last, "No earlier rule applies.", []RouteCandidate{d.candidate(Local)})
}

func (d *decision) note(c ConsideredRule) {
	if d.explains {
		d.considered = append(d.considered, c)
	}
}

// explicit reports whether the program names its runtime.
func (d *decision) explicit() bool {
	if d.call.Version != nil {
		return !d.call.Version.RuntimeAuto
	}
	return d.call.Spec.Runtime != "" && d.call.Spec.Runtime != runtimes.Auto
}

// keep selects the runtime that the program names. If this runtime cannot follow the hints of the call, it returns an
// error.
func (d *decision) keep() error {
	name, err := d.router.Specs.Runtime(d.call.Spec)
	if err != nil {
		return err
	}
	d.runtime, d.route = name, registry.Route{Rule: ExplicitRule, Reason: fmt.Sprintf("The program sets the runtime %s.", name)}
	d.note(ConsideredRule{Rule: ExplicitRule, Applies: true, Why: d.route.Reason, Candidates: []RouteCandidate{{Runtime: name, Usable: true}}})
	if err := d.confined(name); err != nil {
		return err
	}
	switch {
	case d.call.Hints.Isolation == RemoteIsolation && !name.Remote():
		return fault.Invalid("/hints/isolation", "must not be %s, because the program sets the runtime %s, which runs on this server.", RemoteIsolation, name)
	case d.call.Hints.GPU && !d.has(name, runtimes.GPUFeature):
		return fault.Invalid("/hints/gpu", "must be false, because the program sets the runtime %s, which does not have the feature %s.", name, runtimes.GPUFeature)
	}
	return nil
}

// confined returns an error if a rule for the call's workspace allows only runtimes other than the named one. Without
// this check, a program could avoid the rule by naming a runtime.
func (d *decision) confined(name runtimes.Name) error {
	for _, rule := range d.router.Table.Rules {
		if rule.Otherwise != Refuse || !slices.Contains(rule.When.Workspaces, d.call.Workspace) || slices.Contains(rule.Runtimes, name) {
			continue
		}
		if why, applies := d.match(rule.When); applies {
			only := make([]string, len(rule.Runtimes))
			for i, one := range rule.Runtimes {
				only[i] = string(one)
			}
			d.route = registry.Route{Rule: rule.Name, Reason: why}
			refused := fault.New(fault.RuntimeUnavailable, "The program sets the runtime %s, but the rule %s of the router allows this workspace only %s.", name, rule.Name, strings.Join(only, ", "))
			refused.Extra = map[string]any{"rule": rule.Name}
			return refused
		}
	}
	return nil
}

// prepare determines the local runtime and the expected duration of the call.
func (d *decision) prepare(ctx context.Context) (err error) {
	d.expected = float64(d.call.Hints.ExpectedMs)
	v := d.call.Version
	if v == nil {
		d.local, d.localWhy, err = d.router.Engines.Local(ctx, d.call.Spec)
		return err
	}
	d.local = d.call.Spec.Runtime
	if v.RuntimeChoice != nil {
		d.localWhy = v.RuntimeChoice.Message
	}
	if d.expected == 0 && (d.router.timed || d.explains) {
		// Ignore an error: the duration is then unknown, and the run starts anyway.
		d.expected, d.runs, _ = d.router.learned.median(ctx, version{d.call.Workspace, v.AgentID, v.Version})
	}
	return nil
}

// slow reports whether Node was chosen for the version at publication because its draft used much CPU time in goja.
func (d *decision) slow() bool {
	v := d.call.Version
	return v != nil && v.RuntimeChoice != nil && v.RuntimeChoice.Reason == registry.RuntimeSlow
}

// match reports whether all conditions of a rule hold. why names the condition that decides.
func (d *decision) match(w RouteConditions) (why string, applies bool) {
	c, isolation := d.call, d.call.Hints.Isolation
	if isolation == "" && c.Spec.Isolation == runtimes.Strict {
		isolation = StrictIsolation
	}
	switch {
	case len(w.Languages) > 0 && !slices.Contains(w.Languages, c.Spec.Language):
		return fmt.Sprintf("The language is %s.", c.Spec.Language), false
	case w.Workspaces != nil && !slices.Contains(w.Workspaces, c.Workspace):
		return "The workspace is not listed.", false
	case w.Isolation != "" && w.Isolation != isolation:
		return fmt.Sprintf("Neither the call nor the program requests isolation: %s.", w.Isolation), false
	case w.LongJob && !c.Hints.LongJob:
		return "The call does not set longJob.", false
	case w.GPU && !c.Hints.GPU:
		return "The call does not set gpu.", false
	case (w.MinMs > 0 || w.MaxMs > 0) && d.expected == 0:
		return "The duration is not known.", false
	case w.MinMs > 0 && d.expected < float64(w.MinMs):
		return fmt.Sprintf("%s, less than %d ms.", d.duration(), w.MinMs), false
	case w.MaxMs > 0 && d.expected > float64(w.MaxMs):
		return fmt.Sprintf("%s, more than %d ms.", d.duration(), w.MaxMs), false
	case w.MinCPUMs > 0 && c.Version == nil:
		return "This rule is decided at publication, from the runs of the draft.", false
	case w.MinCPUMs > 0 && !d.slow():
		return "The runs of the draft needed less CPU time.", false
	}
	return d.held(w), true
}

// held describes the conditions of a rule that matches.
func (d *decision) held(w RouteConditions) string {
	switch {
	case w.GPU:
		return "The call sets gpu."
	case w.LongJob:
		return "The call sets longJob."
	case w.Isolation == RemoteIsolation:
		return "The call requests isolation: remote."
	case w.Isolation != "":
		return fmt.Sprintf("The call or the program requests isolation: %s.", w.Isolation)
	case w.Workspaces != nil:
		return "The workspace is listed."
	case w.MinMs > 0 || w.MaxMs > 0:
		return d.duration() + "."
	case len(w.Languages) > 0 && w.MinCPUMs == 0:
		return fmt.Sprintf("The language is %s.", d.call.Spec.Language)
	case w.MinCPUMs > 0:
		return "The runs of the draft needed much CPU time."
	}
	return "No earlier rule applies."
}

func (d *decision) duration() string {
	if d.runs > 0 {
		return fmt.Sprintf("Runs take %.0f ms (median of %d)", d.expected, d.runs)
	}
	return fmt.Sprintf("The call expects %.0f ms", d.expected)
}

// reason returns the reason for a choice in one or two sentences.
func (d *decision) reason(why string, name runtimes.Name) string {
	if name == d.local && d.localWhy != "" {
		return why + " " + d.localWhy
	}
	return why
}

// candidate returns whether a runtime can execute the call, with the reason if it cannot.
func (d *decision) candidate(name runtimes.Name) RouteCandidate {
	if name == Local {
		name = d.local
	}
	c := RouteCandidate{Runtime: name}
	if c.Why = d.unfit(name); c.Why != "" {
		return c
	}
	if name != d.local {
		if c.Why = d.router.Lacks(name); c.Why != "" {
			c.lacking = true
			return c
		}
	}
	c.Usable = true
	return c
}

// unfit returns the reason why a runtime could not execute the call on any server, or "" if it could.
func (d *decision) unfit(name runtimes.Name) string {
	spec := d.call.Spec
	switch {
	case d.call.Hints.Isolation == RemoteIsolation && !name.Remote():
		return "It runs on this server."
	case d.call.Hints.GPU && !d.has(name, runtimes.GPUFeature):
		return fmt.Sprintf("It does not have the feature %s.", runtimes.GPUFeature)
	case name == d.local: // The local runtime was checked when the program was saved.
		return ""
	case name.Remote() && d.call.Private:
		return "The program has the flag pii_risk, so its data is sent to another service only if the program sets that runtime."
	case name.Remote() && len(spec.Secrets) > 0:
		return "The program uses secrets, which are sent to another service only if the program sets that runtime."
	case name.Remote() && d.router.Specs.Rules(d.call.Workspace, spec) != nil:
		return "The program is subject to language rules, which this runtime cannot enforce."
	}
	spec = spec.Current()
	spec.Runtime = name
	_, err := d.router.Specs.Complete(spec)
	return sentences(err)
}

// sentences returns the details of an error about a program as text.
func sentences(err error) string {
	var refused *fault.Error
	if !errors.As(err, &refused) || len(refused.Details) == 0 {
		if err != nil {
			return err.Error()
		}
		return ""
	}
	var all []string
	for _, one := range refused.Details {
		all = append(all, strings.TrimSpace(strings.TrimPrefix(one.Pointer, "/")+" "+one.Message))
	}
	return strings.Join(all, " ")
}

func (d *decision) has(name runtimes.Name, feature runtimes.Feature) bool {
	features, known := d.router.Features(name)
	return known && slices.Contains(features, feature)
}

// refuse returns the error for a rule that has no usable runtime. If no runtime at all could follow a hint for this
// program, the error is about the hint. Otherwise the error says that this server lacks a runtime.
func (d *decision) refuse(rule RoutingRule, why string, candidates []RouteCandidate) error {
	d.route = registry.Route{Rule: rule.Name, Reason: why}
	var texts []string
	lacking := false
	for _, c := range candidates {
		lacking = lacking || c.lacking
		texts = append(texts, string(c.Runtime)+": "+c.Why)
	}
	reasons := strings.Join(texts, " ")
	if hint := d.pointer(); !lacking && hint != "" {
		return fault.Invalid(hint, "cannot be fulfilled by any runtime for this program. %s", reasons)
	}
	refused := fault.New(fault.RuntimeUnavailable, "The rule %s of the router has no usable runtime for this run. %s", rule.Name, reasons)
	refused.Extra = map[string]any{"rule": rule.Name}
	return refused
}

// pointer returns the JSON pointer of the hint that restricts the choice of runtimes most.
func (d *decision) pointer() string {
	switch h := d.call.Hints; {
	case h.GPU:
		return "/hints/gpu"
	case h.Isolation == RemoteIsolation:
		return "/hints/isolation"
	}
	return ""
}

// unavailable lists the runtimes that matching rules name and that this server lacks.
func (d *decision) unavailable() []MissingRuntime {
	all := []MissingRuntime{}
	for _, rule := range d.considered {
		for _, c := range rule.Candidates {
			if c.lacking && !slices.ContainsFunc(all, func(m MissingRuntime) bool { return m.Runtime == c.Runtime }) {
				all = append(all, MissingRuntime{c.Runtime, c.Why})
			}
		}
	}
	return all
}
