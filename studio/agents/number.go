package agents

import (
	"context"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/advice"
	"github.com/atelier-run/atelier/registry/digest"
)

// numbered sets the number and the digests of a version. If the number is smaller than advised, the request must set
// Force, and the version records that the advice was overridden.
func numbered(v registry.Version, advised registry.Advice, published []registry.Version, req PublishRequest) (registry.Version, error) {
	var err error
	if v.Version, err = number(advised, req); err != nil {
		return v, err
	}
	sums, err := digest.Of(v)
	if err != nil {
		return v, err
	}
	v.Digest, v.ContentDigest, v.CodeDigest = sums.Version, sums.Content, sums.Code
	if advised.Base == "" || slices.Contains(numbers(published), v.Version) {
		return v, nil // If the number exists already, the store rejects the version.
	}
	large, err := advice.Large(v.Version, advised.Base, advised.Bump)
	switch {
	case err != nil || large:
		return v, err
	case !req.Force:
		return v, tooSmall(v.Version, advised)
	}
	v.Override = &registry.Override{Comment: req.Comment, Advice: advised}
	return v, nil
}

func numbers(versions []registry.Version) []string {
	all := make([]string, 0, len(versions))
	for _, v := range versions {
		all = append(all, v.Version)
	}
	return all
}

// advise compares a version with its predecessor base and returns the advised number.
func (s *Service) advise(ctx context.Context, workspace string, v registry.Version, published []registry.Version, base string) (registry.Advice, error) {
	if base == "" {
		return registry.Advice{Bump: registry.NoBump, Version: advice.Promoted(numbers(published)), Reasons: []registry.Reason{}}, nil
	}
	before, err := s.Resolver.Resolve(ctx, workspace, registry.Reference{Agent: v.AgentID, Version: base})
	if err != nil {
		return registry.Advice{}, err
	}
	reasons, err := advice.Between(before, v)
	if err != nil {
		return registry.Advice{}, err
	}
	bump := advice.Of(reasons)
	next, err := advice.Next(before.Version, bump)
	return registry.Advice{Base: before.Version, Bump: bump, Version: next, Reasons: orNone(reasons)}, err
}

func orNone(reasons []registry.Reason) []registry.Reason {
	if reasons == nil {
		return []registry.Reason{}
	}
	return reasons
}

// number returns the requested number, or the advised one.
func number(advised registry.Advice, req PublishRequest) (string, error) {
	if req.Version != "" {
		return req.Version, nil
	}
	var base semver.Version
	if advised.Base != "" {
		v, err := semver.StrictNewVersion(advised.Base)
		if err != nil {
			return "", err
		}
		base = *v
	}
	switch req.Bump {
	case "", "auto":
		return advised.Version, nil
	case string(registry.MajorBump):
		base = base.IncMajor()
	case string(registry.MinorBump):
		base = base.IncMinor()
	case string(registry.PatchBump):
		base = base.IncPatch()
	default:
		return "", fault.Invalid("/bump", "must be auto, major, minor or patch.")
	}
	if advised.Base == "" {
		return advised.Version, nil
	}
	return base.String(), nil
}

// tooSmall returns the error for a number that is too small. It lists the changes that require a larger one.
func tooSmall(given string, advised registry.Advice) error {
	refused := fault.New(fault.BumpTooSmall, "%s is too small after %s: the changes require a %s version, %s.", given, advised.Base, advised.Bump, advised.Version)
	for _, r := range advised.Reasons {
		if r.Bump != registry.PatchBump || advised.Bump == registry.PatchBump {
			refused.Details = append(refused.Details, fault.Detail{Pointer: r.Pointer, Code: string(r.Bump), Message: r.Message})
		}
	}
	refused.Extra = map[string]any{"base": advised.Base, "advisedBump": advised.Bump, "advisedVersion": advised.Version,
		"remedy": `Publish without a version number, or send "force": true with a comment that gives the reason.`}
	return refused
}
