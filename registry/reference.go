package registry

import (
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/internal/fault"
)

// Latest and DraftVersion are the two words that may stand for a version.
const (
	Latest       = "latest"
	DraftVersion = "draft"
)

// Reference names an agent's version: name@1.2.0, name@^1, name@~1.2, name@>=1 <2, name@latest, name@sha256:….
// Version is kept as it was written; "" means that none was given, which a call refuses.
type Reference struct {
	Agent   string
	Version string
}

func (r Reference) String() string {
	if r.Version == "" {
		return r.Agent
	}
	return r.Agent + "@" + r.Version
}

// ParseReference splits "name@version". An agent without a version is returned with an empty Version.
func ParseReference(s string) (Reference, error) {
	agent, version, _ := strings.Cut(s, "@")
	if agent == "" {
		return Reference{}, fault.Invalid("/reference", "A reference looks like name@1.2.0, name@^1, name@latest or name@sha256:….")
	}
	ref := Reference{Agent: agent, Version: version}
	if version == "" {
		return ref, nil
	}
	return ref, CheckVersionRange(version)
}

// VersionKind says how a reference picks its version.
type VersionKind string

// The kinds of version references. Exact and ByDigest are pinned.
const (
	Exact    VersionKind = "exact"
	Range    VersionKind = "range"
	ByDigest VersionKind = "digest"
	ByLatest VersionKind = "latest"
	ByDraft  VersionKind = "draft"
)

var (
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	exactForm  = regexp.MustCompile(`^\d+\.\d+\.\d+(-|\+|$)`)
)

// KindOf says how a version reference picks; CheckVersionRange tells whether it is well formed.
func KindOf(version string) VersionKind {
	switch {
	case version == Latest:
		return ByLatest
	case version == DraftVersion:
		return ByDraft
	case strings.HasPrefix(version, "sha256:"):
		return ByDigest
	case exactForm.MatchString(version):
		return Exact
	}
	return Range
}

// CheckVersionRange tells whether a version reference is well formed.
func CheckVersionRange(version string) error {
	switch KindOf(version) {
	case ByLatest, ByDraft:
		return nil
	case ByDigest:
		if !digestForm.MatchString(version) {
			return fault.Invalid("/version", "A digest is sha256: and 64 hexadecimal digits.")
		}
	case Exact:
		return CheckSemver(version)
	case Range:
		if _, err := semver.NewConstraint(version); err != nil {
			return fault.Invalid("/version", "A version is 1.2.0, ^1, ~1.2, a range, latest or sha256:….")
		}
	}
	return nil
}

// CheckSemver tells whether a string is a semantic version as semver.org 2.0.0 has it, without a leading v.
func CheckSemver(version string) error {
	if _, err := semver.StrictNewVersion(version); err != nil {
		return fault.Invalid("/version", "A version is MAJOR.MINOR.PATCH as semver.org has it, such as 1.2.0 or 2.0.0-rc.1.")
	}
	return nil
}

// Pick returns the index of the version that a range or latest stands for: the highest semver without pre-release
// (a pre-release only if the range itself names one), a deprecated one only if nothing else fits; -1 for none.
func Pick(version string, candidates []Version) int {
	constraint := (*semver.Constraints)(nil)
	if KindOf(version) == Range {
		c, err := semver.NewConstraint(version)
		if err != nil {
			return -1
		}
		constraint = c
	}
	best, bestDeprecated := -1, -1
	var bestV, bestDeprecatedV *semver.Version
	for i, c := range candidates {
		v, err := semver.StrictNewVersion(c.Version)
		if err != nil || (constraint == nil && v.Prerelease() != "") || (constraint != nil && !constraint.Check(v)) {
			continue
		}
		if c.Deprecated {
			if bestDeprecatedV == nil || v.GreaterThan(bestDeprecatedV) {
				bestDeprecated, bestDeprecatedV = i, v
			}
		} else if bestV == nil || v.GreaterThan(bestV) {
			best, bestV = i, v
		}
	}
	if best < 0 {
		return bestDeprecated
	}
	return best
}
