package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/router"
	"github.com/atelier-run/atelier/studio/budgets"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/recorder"
)

// These are the limits of a program's input. Depth is the maximum nesting of arrays and objects.
const (
	maxInputBytes = 8 << 20
	maxInputDepth = 256
	// maxInputDigits is the maximum number of digits of one number. It exists because Python needs quadratic time to parse
	// a number.
	maxInputDigits = 4300
)

// unchecked is the validation result of an input or output that has no schema.
const unchecked = "skipped"

// target is the resolved program of a request.
type target struct {
	spec       registry.Spec
	agentID    string
	agent      string
	version    string
	revision   int64 // revision of the draft that runs
	digest     string
	codeDigest string
	of         registry.Version
}

// prepare resolves, validates and admits a request. If it rejects the request, no run is recorded. If the gate blocks
// the run, or if a person must approve the run, prepare records the run and returns it as held.
func (s *Service) prepare(ctx context.Context, actor registry.Actor, req Request) (l *execution, held *Result, err error) {
	if err := s.Journal.Ready(); err != nil { // A run that cannot be recorded must not start.
		return nil, nil, err
	}
	created := s.Now()
	spanCtx, span := s.Tracer.Start(ctx, "code.execute", trace.WithSpanKind(trace.SpanKindInternal))
	l, held, err = s.admit(spanCtx, actor, req)
	if err != nil {
		span.RecordError(err)
	}
	if err != nil || held != nil {
		span.End()
		return nil, held, err
	}
	l.created, l.run.CreatedAt, l.span = created, stamp(created), span
	if req.resumed != nil {
		l.run.ID, l.job.RunID, l.run.CreatedAt = req.resumed.ID, req.resumed.ID, req.resumed.CreatedAt
	}
	if req.attach != "" {
		l.run.StartedAt, l.created = req.resumed.StartedAt, req.resumed.CreatedAt
	}
	if sc := span.SpanContext(); sc.HasTraceID() {
		l.run.TraceID = sc.TraceID().String()
	}
	span.SetAttributes(
		attribute.String("code.runtime", string(l.run.Runtime)), attribute.String("code.language", string(l.run.Language)),
		attribute.String("code.sandbox", l.run.Isolation), attribute.String("run.id", l.run.ID),
	)
	if err := s.enter(l); err != nil {
		l.abandon()
		return nil, nil, err
	}
	return l, nil, nil
}

func (s *Service) admit(ctx context.Context, actor registry.Actor, req Request) (*execution, *Result, error) {
	t, err := s.resolve(ctx, actor, req)
	if err != nil {
		return nil, nil, err
	}
	capabilities, err := forTask(t.spec.Capabilities, req.Project)
	if err != nil {
		return nil, nil, err
	}
	limits, err := s.limits(s.Specs.Limits(t.spec.Limits), req)
	if err != nil {
		return nil, nil, err
	}
	name, route, err := s.route(ctx, actor, req, t)
	if err != nil {
		return nil, nil, err
	}
	if !s.Router.Has(name) {
		return nil, nil, fault.New(fault.RuntimeUnavailable, "The runtime %q is not available. GET /api/v1/capabilities lists the available runtimes.", name)
	}
	input := req.Input
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	inputsHash, validation, err := s.checkInput(ctx, t.spec.InputSchema, input)
	if err != nil {
		return nil, nil, err
	}
	input = jcs.Tidy(input) // Tidy gives programs the same text for the same value from every client.
	given, err := s.given(ctx, actor.Workspace, t)
	if err != nil {
		return nil, nil, err
	}
	hidden, relatives, depth := given.Values, new(family), 0
	if caller := req.outer; caller != nil { // The calling program may have put its secrets into the input.
		hidden = slices.Concat(caller.execution.hidden, given.Values)
		relatives, depth = caller.execution.family, caller.execution.depth+1
	}
	hide := redact.New(hidden)
	stored := hide.JSON(input)
	id := cmp.Or(req.id, s.NewID())
	run := registry.Run{
		ID: id, Workspace: actor.Workspace, AgentID: t.agentID, Agent: t.agent, Version: t.version, DraftRevision: t.revision, Digest: t.digest,
		CodeDigest: t.codeDigest, Language: t.spec.Language, Runtime: name, Trigger: req.Trigger,
		ParentRunID: req.ParentRunID, WorkflowRunID: req.WorkflowRunID, NodeID: req.NodeID, Actor: actor, RequestID: req.RequestID, Claimed: req.Claimed,
		Status: registry.Queued, Input: stored, Validation: registry.Validation{Input: validation, Output: unchecked},
		InputsHash: inputsHash, Isolation: s.Level, Route: route, Memory: limits.MemoryBytes,
	}
	masked := !bytes.Equal(stored, input)
	if masked {
		// Hash the redacted input: a hash of the original input would let a reader check a guess of the secret.
		if run.InputsHash, err = jcs.Digest(stored); err != nil {
			return nil, nil, err
		}
	}
	if held, err := s.review(ctx, actor, req, t, run, masked); held != nil || err != nil {
		return nil, held, err
	}
	var unrecorded budgets.Place
	if s.Budgets != nil && req.attach == "" { // A continued run was admitted when it first started.
		if unrecorded, err = s.Budgets.Admit(ctx, actor.Workspace, name.Remote()); err != nil {
			return nil, nil, err
		}
	}
	place, ticket, err := s.place(ctx, actor, req, t)
	if err != nil {
		unrecorded.Done()
		return nil, nil, err
	}
	files := make(map[string][]byte, len(t.spec.Files))
	for path, file := range t.spec.Files {
		files[path] = file
	}
	reservation := budget.Of(ctx)
	reservation.Settle()
	runCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	l := &execution{
		service: s, ctx: runCtx, cancel: cancel, place: place, unrecorded: unrecorded, ticket: ticket, done: make(chan struct{}),
		recording: recorder.New(func() time.Time { return stamp(s.Now()) }, hide), given: given, redactor: hide, outputSchema: t.spec.OutputSchema, reservation: reservation, release: reservation.Hold(),
		private: private(t.spec, req.outer) || req.resumed != nil && req.resumed.Withheld, caller: actor.ID, of: t.of, spec: t.spec, family: relatives, depth: depth, hidden: hidden,
		job: runtimes.Job{
			RunID: id, Workspace: actor.Workspace, Language: t.spec.Language, Runtime: name, Files: files,
			Entrypoint: t.spec.Entrypoint, CodeDigest: t.codeDigest, Input: input, Environment: environment(t.spec, given),
			Capabilities: capabilities, Limits: limits, Isolation: isolation(req, t.spec, given), Bound: given.Bound,
			Rules: s.Specs.Rules(actor.Workspace, t.spec), Models: s.Models != "" && t.codeDigest == s.Models, GPU: req.Hints.GPU, Attach: req.attach,
		},
		run: run, request: s.resumable(req, t, name, masked),
	}
	if req.attach != "" {
		l.recording = recorder.Resume(func() time.Time { return stamp(s.Now()) }, hide, req.events, name.Remote())
		l.attached.Store(true)
	}
	return l, nil, nil
}

// source returns the source of a run, which determines the run's place in the queue. A run is interactive only if a
// person starts it in the Studio; runs of a replay are not interactive.
func source(actor registry.Actor, req Request, t target) router.Source {
	return router.Source{Agent: t.agentID, Caller: actor.ID, Interactive: req.Trigger == registry.TriggerStudio && req.ParentRunID == ""}
}

// place reserves a run in the quotas of its workspace and in the queue. If a program calls the run, the run uses the
// slot of that program.
func (s *Service) place(ctx context.Context, actor registry.Actor, req Request, t target) (place quotas.Place, ticket *router.Ticket, err error) {
	caller := req.outer
	if caller != nil {
		if s.Quotas != nil {
			place, err = s.Quotas.AdmitWithin(ctx, actor.Workspace)
		}
		return place, s.Router.Within(caller.execution.ticket), err
	}
	if s.Quotas != nil && req.attach == "" {
		if place, err = s.Quotas.Admit(ctx, actor.Workspace); err != nil {
			return place, nil, err
		}
	}
	if ticket, err = s.Router.Admit(actor.Workspace, source(actor, req, t)); err != nil {
		place.Back()
	}
	return place, ticket, err
}

// resolve finds the program that a request names.
func (s *Service) resolve(ctx context.Context, actor registry.Actor, req Request) (target, error) {
	ctx, span := s.step(ctx, "resolve")
	defer span.End()
	if req.Inline != nil {
		spec, err := s.Specs.Complete(*req.Inline)
		if err == nil {
			err = s.Specs.Grants(actor.Workspace, spec)
		}
		if err != nil {
			return target{}, err
		}
		return withCodeDigest(target{spec: spec})
	}
	if req.Version == registry.DraftVersion {
		agent, err := s.Drafts.Agent(ctx, actor.Workspace, req.Agent)
		if err != nil {
			return target{}, err
		}
		if req.begun != nil {
			return draftAsBegun(agent, *req.begun, *req.resumed)
		}
		draft, err := agent.DraftAt(req.Seen)
		if err != nil {
			return target{}, err
		}
		return withCodeDigest(target{
			spec: draft.Spec, agentID: agent.ID, agent: agent.Name, version: registry.DraftVersion, revision: draft.Revision,
			of: registry.Version{AgentID: agent.ID, CurrentName: agent.Name},
		})
	}
	if req.Of != nil {
		return versionTarget(*req.Of), nil
	}
	v, err := s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: req.Agent, Version: req.Version})
	if err == nil && req.Seen.Named() {
		err = registry.NoDraftNamed(req.Version)
	}
	if err != nil {
		return target{}, err
	}
	return versionTarget(v), nil
}

func versionTarget(v registry.Version) target {
	return target{spec: v.Spec, agentID: v.AgentID, agent: v.Agent, version: v.Version, digest: v.Digest, codeDigest: v.CodeDigest, of: v}
}

// draftAsBegun returns the draft as it was when the run began, even if the draft has changed since. The stored state of
// a program works only with the code that produced the state.
func draftAsBegun(agent registry.Agent, spec registry.Spec, run registry.Run) (target, error) {
	t, err := withCodeDigest(target{
		spec: spec, agentID: agent.ID, agent: agent.Name, version: registry.DraftVersion, revision: run.DraftRevision,
		of: registry.Version{AgentID: agent.ID, CurrentName: agent.Name},
	})
	if err == nil && t.codeDigest != run.CodeDigest {
		err = fault.New(fault.Conflict, "The stored code has changed since the run began.")
	}
	return t, err
}

// withCodeDigest adds the code digest to a target that is not a published version.
func withCodeDigest(t target) (target, error) {
	var err error
	t.codeDigest, err = digest.Code(t.spec.Files, t.spec.Entrypoint)
	return t, err
}

// limits applies the limits of a request to the limits of the program. A request may only lower a version's limits. An
// inline program sets its own limits, up to the ceilings of the server.
func (s *Service) limits(base runtimes.Limits, req Request) (runtimes.Limits, error) {
	if req.Limits == (runtimes.Limits{}) && req.AtMost == (runtimes.Limits{}) { // Most requests set no limits.
		return base, nil
	}
	return s.limitsOf(base, req)
}

// limitsOf returns the limits for a request that sets at least one limit.
func (s *Service) limitsOf(base runtimes.Limits, req Request) (runtimes.Limits, error) {
	least, highest, owner := runtimes.LeastLimits(), base, "the limit of the version"
	if req.Inline != nil {
		highest, owner = s.Ceilings, "the maximum of this server"
	}
	refused := &fault.Error{Code: fault.InvalidInput, Message: "The limits are not valid."}
	for i, asked := range req.Limits.Fields() {
		least, most := *least.Fields()[i].Value, *highest.Fields()[i].Value
		switch value := *asked.Value; {
		case value == 0:
		case value < least:
			refused.Details = append(refused.Details, fault.Invalid("/limits/"+asked.Name, "must be at least %d.", least).Details[0])
		case value > most:
			refused.Details = append(refused.Details, fault.Invalid("/limits/"+asked.Name, "must be at most %d, %s.", most, owner).Details[0])
		}
	}
	limits := req.Limits.Or(base)
	if len(refused.Details) > 0 {
		return limits, refused
	}
	for i, most := range req.AtMost.Fields() {
		if limit := limits.Fields()[i].Value; *most.Value > 0 {
			*limit = min(*limit, *most.Value)
		}
	}
	return limits, nil
}

// checkInput returns the hash of the input. It rejects input that is too large, malformed or invalid against the
// schema.
func (s *Service) checkInput(ctx context.Context, schema, input json.RawMessage) (hash, validation string, err error) {
	whole := trace.SpanFromContext(ctx)
	_, span := s.step(ctx, "validate")
	defer span.End()
	defer func() {
		span.SetAttributes(attribute.Bool(validationPassed, err == nil))
		if err != nil {
			whole.SetAttributes(attribute.Bool(validationPassed, false))
		}
	}()
	document, err := jcs.Parse(input, jcs.Limits{Depth: maxInputDepth, Bytes: maxInputBytes, Digits: maxInputDigits})
	if err != nil {
		pointer := "/input"
		var refused *jcs.Error
		if errors.As(err, &refused) {
			pointer += refused.Pointer
			err = errors.New(refused.Message)
		}
		return "", "", fault.Invalid(pointer, "%s.", err)
	}
	if len(schema) == 0 {
		validation = unchecked
	} else {
		details, err := s.Validator.ValidateValue(schema, document.Value)
		if err != nil {
			return "", "", err
		}
		if len(details) > 0 {
			for i := range details {
				details[i].Pointer = "/input" + details[i].Pointer
			}
			return "", "", &fault.Error{Code: fault.InvalidInput, Message: "The input does not match the input schema.", Details: details}
		}
		validation = "passed"
	}
	return jcs.Sum(document.Canonical), validation, nil
}
