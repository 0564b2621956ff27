package agents

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
)

// Release publishes a version whose content comes from outside the server, for example from a folder on disk. Release
// also replaces the draft, unless a person has edited the draft since the previous version. Title, description and tags
// are set from the input. The caller must have inspected the code before.
func (s *Service) Release(ctx context.Context, actor registry.Actor, ref string, in Input, req PublishRequest) (registry.Version, error) {
	a, done, err := s.edit(ctx, actor, ref)
	if err != nil {
		return registry.Version{}, err
	}
	defer done()
	published, err := s.Numbers.Numbers(ctx, a.Workspace, a.ID)
	if err != nil {
		return registry.Version{}, err
	}
	before := highest(published)
	follows, err := s.untouched(ctx, a, before)
	if err != nil {
		return registry.Version{}, err
	}
	if a, err = s.describe(a, Input{Title: in.Title, Description: in.Description, Tags: in.Tags}); err != nil {
		return registry.Version{}, err
	}
	req.repeats = true
	v, _, err := s.publish(ctx, actor, a, SpecOf(in), a.Draft.Tests, req, true)
	if err != nil {
		return registry.Version{}, err
	}
	if newest := registry.Pick(registry.Latest, []registry.Version{{Version: before}, {Version: v.Version}}); before != "" && newest == 0 {
		return v, nil // A higher version exists, so the agent keeps its description.
	}
	a.UpdatedAt, a.Editor = s.Now(), actor
	if !follows {
		return v, s.Agents.PatchAgent(ctx, a, time.Time{})
	}
	a.Draft.Spec, a.Draft.SchemaSources = v.Spec, nil
	_, err = s.saveDraft(ctx, actor, a, registry.AnyRevision())
	return v, err
}

// highest returns the highest version number that is not a pre-release, or "" if there is none. The highest version may
// be deprecated, in contrast to the latest version.
func highest(published []registry.Version) string {
	all := make([]registry.Version, 0, len(published))
	for _, v := range published {
		all = append(all, registry.Version{Version: v.Version})
	}
	if at := registry.Pick(registry.Latest, all); at >= 0 {
		return all[at].Version
	}
	return ""
}

// untouched reports whether the draft still has the content of the highest version. It is also true if the agent has no
// version.
func (s *Service) untouched(ctx context.Context, a registry.Agent, highest string) (bool, error) {
	if highest == "" {
		return true, nil
	}
	v, err := s.Resolver.Resolve(ctx, a.Workspace, registry.Reference{Agent: a.ID, Version: highest})
	if err != nil {
		return false, err
	}
	was, err := digest.Of(v)
	if err != nil {
		return false, err
	}
	draft := v
	draft.Spec = a.Draft.Spec
	draft.Runtime = v.Runtime // The runtime of the draft may be auto.
	draft.Tests = a.Draft.Tests
	is, err := digest.Of(draft)
	return was.Version == is.Version, err
}

// Digest returns the digest that a version with the number of v would have if it were published from this input. A
// caller can thus detect that the existing version has different content. If the runtime is auto, Digest uses the
// runtime of v.
func (s *Service) Digest(v registry.Version, in Input) (string, error) {
	spec, err := s.Specs.Complete(SpecOf(in))
	if err != nil {
		return "", err
	}
	if spec.Runtime == runtimes.Auto && spec.Language == v.Language {
		spec.Runtime = v.Runtime
	}
	if spec.Runtime, err = s.Specs.Runtime(spec); err != nil {
		return "", err
	}
	v.Spec = spec
	if in.Title != nil {
		v.Title = *in.Title
	}
	if in.Description != nil {
		v.Description = *in.Description
	}
	sums, err := digest.Of(v)
	return sums.Version, err
}

// Program is code to inspect. Entrypoint is one of its files.
type Program struct {
	Input      Input
	Entrypoint string
}

// Inspect parses programs in the sandbox. For each it returns the definitions, or the error that prevented the
// inspection.
func (s *Service) Inspect(ctx context.Context, actor registry.Actor, programs ...Program) []inspect.Result {
	found := make([]inspect.Result, len(programs))
	var questions []inspect.Request
	var asked []int
	for n, p := range programs {
		spec, err := s.Specs.Complete(SpecOf(p.Input))
		var engine runtimes.Name
		if err == nil {
			spec.Entrypoint = p.Entrypoint
			engine, err = s.Engines.Runtime(ctx, spec)
		}
		if err != nil {
			found[n].Err = err
			continue
		}
		questions, asked = append(questions, s.question(actor, spec, engine)), append(asked, n)
	}
	for at, result := range s.Inspector.CheckAll(ctx, questions) {
		found[asked[at]] = result
	}
	return found
}

// DraftDigest returns the digest that v would get when it is published.
func (s *Service) DraftDigest(v registry.Version) (string, error) {
	var err error
	if v.Runtime, err = s.Specs.Runtime(v.Spec); err != nil {
		return "", err
	}
	sums, err := digest.Of(v)
	return sums.Version, err
}
