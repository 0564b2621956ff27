package agents

import (
	"context"
	"errors"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/advice"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/references"
)

// PublishRequest selects the number of the version to publish: either Version, or a Bump of auto (the default), major,
// minor or patch. If neither is set, the first version is 1.0.0. A number smaller than the changes require needs Force,
// and a Comment with the reason. The version stores both.
type PublishRequest struct {
	Seen      registry.Seen // revision of the draft to publish
	Version   string
	Bump      string
	Changelog string
	Force     bool
	Comment   string
	// AcceptRegressions publishes although checks fail. It requires a Comment and a major version. The version records
	// the comment and the failed checks.
	AcceptRegressions bool
	Replay            int // number of recorded inputs for which the draft must give the same answer as the latest version
	// IfChanged makes Publish return the existing version if the draft has not changed since. Without IfChanged, the error
	// is VersionExists.
	IfChanged bool
	// approved is the verdict of a publication that a person has approved. It is nil for other publications.
	approved *registry.Verdict
	// repeats allows a new version with the same content as the previous one. Skills need it, because the folder of a
	// skill sets its own version number.
	repeats bool
}

// Publish creates an immutable version from the draft. Code that does not parse is rejected, with file, line and
// column. If the number is too small for the changes, the error is BumpTooSmall with the reasons. A draft without
// changes since the previous version creates no version.
func (s *Service) Publish(ctx context.Context, actor registry.Actor, ref string, req PublishRequest) (Published, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return Published{}, err
	}
	draft, err := a.DraftAt(req.Seen)
	if err != nil {
		return Published{}, err
	}
	req.Seen = registry.SeenRevision(draft.Revision) // The rest of the publication uses this revision, even if another client saves the draft meanwhile.
	v, existing, err := s.publish(ctx, actor, a, draft.Spec, draft.Tests, req, false)
	made := Published{Version: v, DraftRevision: draft.Revision, Existing: existing}
	if err == nil && !existing {
		made.Warnings = registry.DescriptionWarnings(v.Agent, v.Title, v.Description)
	}
	return made, err
}

// Published is a version, and the revision of the draft from which it was made.
type Published struct {
	registry.Version
	DraftRevision int64 `json:"draftRevision" doc:"The revision of the draft that was published."`
	Existing      bool  `json:"existing,omitempty" doc:"true if the draft has no changes since this version, so nothing was published. Only with ifChanged."`
	// Warnings do not prevent publishing.
	Warnings []fault.Detail `json:"warnings,omitempty" doc:"Weaknesses of the version that do not prevent publishing, such as a missing description."`
}

// publish creates a version of an agent from a spec and tests, with the agent's title and description. inspected states
// that the code was just inspected and need not be inspected again. existing reports whether the version existed
// before.
func (s *Service) publish(ctx context.Context, actor registry.Actor, a registry.Agent, spec registry.Spec, tests []registry.Test, req PublishRequest, inspected bool) (v registry.Version, existing bool, err error) {
	if err := checkPublish(req); err != nil {
		return v, false, err
	}
	if err := s.checkAgentLimit(ctx, actor); err != nil {
		return v, false, err
	}
	written := spec // the spec as the author wrote it, whose runtime may be auto
	spec, choice, err := s.publishable(ctx, actor, a.ID, spec, inspected)
	if err != nil {
		return v, false, err
	}
	if spec.Capabilities.Pinned, err = s.pinTools(ctx, actor, a.ID, spec.Capabilities.Tools); err != nil {
		return v, false, err
	}
	v = registry.Version{
		ID: s.NewID(), AgentID: a.ID, Agent: a.Name, Title: a.Title, Description: a.Description, Changelog: req.Changelog,
		PublishedAt: s.Now(), PublishedBy: actor.ID, Publisher: actor, RuntimeChoice: choice, RuntimeAuto: written.Runtime == "" || written.Runtime == runtimes.Auto, Tests: tests, Spec: spec,
	}
	published, err := s.Numbers.Numbers(ctx, a.Workspace, a.ID)
	if err != nil {
		return v, false, err
	}
	advised, err := s.advise(ctx, a.Workspace, v, published, advice.Base(req.Version, numbers(published)))
	if err != nil {
		return v, false, err
	}
	if v, err = numbered(v, advised, published, req); err != nil {
		return v, false, err
	}
	if before, same := unchanged(v, published); same && !req.repeats {
		if !req.IfChanged {
			return v, false, noChanges(before)
		}
		before, err = s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: a.ID, Version: before.Version})
		return before, true, err
	}
	if v, err = s.checked(ctx, actor, v, advised, published, req); err != nil {
		return v, false, err
	}
	if v.Verdict, err = s.reviewed(ctx, actor, v, written, published, req); err != nil {
		return v, false, err
	}
	if err := s.Versions.InsertVersion(ctx, actor.Workspace, v); err != nil {
		return v, false, err
	}
	s.Resolver.Forget(actor.Workspace)
	s.Changes.Published(a.ID, v.Version)
	return v, false, nil
}

// checked runs the checks of a draft. If a check fails, it returns an error, unless the request accepts regressions.
func (s *Service) checked(ctx context.Context, actor registry.Actor, v registry.Version, advised registry.Advice, published []registry.Version, req PublishRequest) (registry.Version, error) {
	failed, before, err := s.regressions(ctx, actor, v, published, req)
	switch {
	case err != nil || len(failed) == 0:
		return v, err
	case !req.AcceptRegressions:
		return v, s.refuseRegressions(ctx, v, before, failed)
	}
	if advised, err = accepted(advised, failed); err != nil {
		return v, err
	}
	v.Regressions = &registry.Regressions{Comment: req.Comment, Failed: failed}
	return numbered(v, advised, published, req)
}

// unchanged returns the predecessor of a version, and whether both have the same content. A stable version is compared
// with stable versions only, so 2.0.0 may have the content of 2.0.0-rc.1. A version without a predecessor is compared
// with all versions.
func unchanged(v registry.Version, published []registry.Version) (registry.Version, bool) {
	if at := advice.Previous(v.Version, numbers(published)); at >= 0 {
		return published[at], published[at].ContentDigest == v.ContentDigest
	}
	stable := !prerelease(v.Version)
	for _, other := range published {
		if other.ContentDigest == v.ContentDigest && !(stable && prerelease(other.Version)) {
			return other, true
		}
	}
	return registry.Version{}, false
}

func prerelease(number string) bool { return strings.Contains(strings.SplitN(number, "+", 2)[0], "-") }

func noChanges(before registry.Version) error {
	refused := fault.New(fault.VersionExists, "The draft has no changes since %s, so nothing was published.", before.Reference())
	refused.Extra = map[string]any{"version": before.Version, "remedy": `Use that version, or change the draft. With "ifChanged": true this is not an error, and the answer is that version.`}
	return refused
}

func checkPublish(req PublishRequest) error {
	if err := errors.Join(registry.CheckText("/changelog", req.Changelog), registry.CheckText("/comment", req.Comment)); err != nil {
		return err
	}
	switch {
	case len(req.Changelog) > registry.MaxWords:
		return fault.Invalid("/changelog", "must have at most %d bytes.", registry.MaxWords)
	case len(req.Comment) > registry.MaxWords:
		return fault.Invalid("/comment", "must have at most %d bytes.", registry.MaxWords)
	case req.AcceptRegressions && strings.TrimSpace(req.Comment) == "":
		return fault.Invalid("/comment", "is required with \"acceptRegressions\": true; give the reason.")
	case req.Force && strings.TrimSpace(req.Comment) == "":
		return fault.Invalid("/comment", "is required with \"force\": true; give the reason for the smaller number.")
	case req.Version != "" && req.Bump != "":
		return fault.Invalid("/bump", "must be absent if version is set.")
	case req.Version != "":
		return registry.CheckSemver(req.Version)
	}
	return nil
}

// publishable checks a draft's code and determines the runtime of its version.
func (s *Service) publishable(ctx context.Context, actor registry.Actor, agentID string, spec registry.Spec, inspected bool) (registry.Spec, *registry.RuntimeChoice, error) {
	spec, err := s.Specs.Complete(spec.Current())
	if err != nil {
		return spec, nil, err
	}
	if err := s.Specs.Grants(actor.Workspace, spec); err != nil {
		return spec, nil, err
	}
	var choice *registry.RuntimeChoice
	if spec.Runtime, choice, err = s.Engines.Choose(ctx, actor.Workspace, agentID, spec); err != nil {
		return spec, nil, err
	}
	if spec.Runtime == runtimes.Script {
		return spec, nil, fault.Invalid("/runtime", "must not be script, which is for tests and demos.")
	}
	var sources map[string]string
	if spec, sources, err = s.withPackages(ctx, actor, agentID, spec); err != nil {
		return spec, nil, err
	}
	if inspected {
		return spec, choice, nil
	}
	question := s.question(actor, spec, spec.Runtime)
	question.Sources, question.Unpacked = sources, false
	report, err := s.Inspector.Check(ctx, question)
	if err != nil {
		return spec, nil, err
	}
	if len(report.Errors) > 0 {
		refused := &fault.Error{Code: fault.InvalidInput, Message: "The code has errors. Fix them before you publish.", Details: report.Errors}
		if choice != nil && choice.Reason == registry.RuntimeUnavailable {
			refused.Extra = map[string]any{"remedy": choice.Message}
		}
		return spec, nil, refused
	}
	return spec, choice, nil
}

// withPackages adds the exact packages with which the draft ran to a version, and returns the sources of npm packages.
// It installs the packages first, so that a version with packages that cannot be installed is never published.
func (s *Service) withPackages(ctx context.Context, actor registry.Actor, agentID string, spec registry.Spec) (registry.Spec, map[string]string, error) {
	spec.Lock = nil
	if !packages.Needed(spec) {
		return spec, nil, nil
	}
	if s.Packages == nil {
		return spec, nil, fault.New(fault.RuntimeUnavailable, "This server installs no packages.")
	}
	nobody := func(packages.Step) {}
	lock, err := s.Packages.Lock(ctx, actor.Workspace, agentID, spec, nobody)
	if err != nil {
		return spec, nil, err
	}
	installed, release, err := s.Packages.Install(ctx, actor.Workspace, lock, nobody)
	if err != nil {
		return spec, nil, err
	}
	release()
	spec.Lock = &lock
	return spec, installed.Sources, nil
}

// Engine returns the runtime that an agent's draft would get if it were published now, with the reason. The choice is
// nil if the draft names a runtime, or if its language has only one runtime.
func (s *Service) Engine(ctx context.Context, actor registry.Actor, ref string, seen registry.Seen) (runtimes.Name, *registry.RuntimeChoice, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return "", nil, err
	}
	draft, err := a.DraftAt(seen)
	if err != nil {
		return "", nil, err
	}
	return s.Engines.Choose(ctx, actor.Workspace, a.ID, draft.Spec)
}

// question returns the request to inspect a program for a runtime.
func (s *Service) question(actor registry.Actor, spec registry.Spec, engine runtimes.Name) inspect.Request {
	return inspect.Request{Language: spec.Language, Runtime: engine, Files: contents(spec.Files), Entrypoint: spec.Entrypoint, Rules: s.Specs.Rules(actor.Workspace, spec), Unpacked: packages.Needed(spec)}
}

func contents(files map[string]registry.File) map[string][]byte {
	all := make(map[string][]byte, len(files))
	for path, file := range files {
		all[path] = file
	}
	return all
}

// ListVersions returns the versions of an agent, the newest first, without files.
func (s *Service) ListVersions(ctx context.Context, actor registry.Actor, ref string) ([]registry.Version, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return nil, err
	}
	versions, err := s.Versions.Versions(ctx, actor.Workspace, a.ID)
	for i := range versions {
		versions[i].CurrentName = a.Name
	}
	return versions, err
}

// FindAll returns the versions that references select, with only number, digest, deprecation and the agent's current
// name.
func (s *Service) FindAll(ctx context.Context, actor registry.Actor, refs []registry.Reference) ([]references.Found, error) {
	return s.Resolver.FindAll(ctx, actor.Workspace, refs)
}

// Version returns the version that an exact number, a range, latest or a digest selects.
func (s *Service) Version(ctx context.Context, actor registry.Actor, ref, version string) (registry.Version, error) {
	return s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: ref, Version: version})
}
