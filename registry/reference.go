package registry

import (
	"math"
	"regexp"
	"slices"
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
	agent, version, pinned := strings.Cut(s, "@")
	if agent == "" || (pinned && version == "") {
		return Reference{}, fault.Invalid("/reference", "A reference must be name@1.2.0, name@^1, name@latest or name@sha256:….")
	}
	ref := Reference{Agent: agent, Version: version}
	if version == "" {
		return ref, nil
	}
	return ref, CheckVersionRange(version)
}

// Candidates are versions that a reference may stand for, and the present name of its agent, "" if there is no such agent.
type Candidates struct {
	Agent    string
	Versions []Version
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
	exactForm  = regexp.MustCompile(`^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]*)?$`)
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

// maxRange bounds a version reference in bytes.
const maxRange = 256

// CheckVersionRange tells whether a version reference is well formed.
func CheckVersionRange(version string) error {
	if len(version) > maxRange || version != strings.TrimSpace(version) {
		return fault.Invalid("/version", "A version must have at most %d bytes and no spaces at the start or end.", maxRange)
	}
	switch KindOf(version) {
	case ByLatest, ByDraft:
		return nil
	case ByDigest:
		if !digestForm.MatchString(version) {
			return fault.Invalid("/version", "A digest must be sha256: followed by 64 hexadecimal digits.")
		}
	case Exact:
		return CheckSemver(version)
	case Range:
		if _, err := semver.NewConstraint(version); err != nil {
			return fault.Invalid("/version", "A version must be 1.2.0, ^1, ~1.2, a range, latest or sha256:….")
		}
	}
	return nil
}

// CheckSemver tells whether a string is a semantic version as semver.org 2.0.0 has it, without a leading v. The largest numbers
// that 64 bits hold are left out: each has to have a next one.
func CheckSemver(version string) error {
	v, err := semver.StrictNewVersion(version)
	switch {
	case err != nil:
		return fault.Invalid("/version", "A version must be a semantic version, for example 1.2.0 or 2.0.0-rc.1.")
	case max(v.Major(), v.Minor(), v.Patch()) > math.MaxInt64:
		return fault.Invalid("/version", "Each number of a version must be at most %d.", math.MaxInt64)
	}
	return nil
}

// Pick returns the index of the version that a reference stands for; -1 for none, and for a draft. An exact version and
// a digest are what they say. A range and latest are the highest semver without pre-release (a pre-release only if the
// range itself names one), a deprecated one only if nothing else fits.
func Pick(version string, candidates []Version) int {
	switch KindOf(version) {
	case Exact:
		return slices.IndexFunc(candidates, func(c Version) bool { return c.Version == version })
	case ByDigest:
		return slices.IndexFunc(candidates, func(c Version) bool { return c.Digest == version })
	case ByDraft:
		return -1
	case ByLatest:
		return highest(candidates, func(v *semver.Version) bool { return v.Prerelease() == "" })
	case Range:
		constraint, err := semver.NewConstraint(version)
		if err != nil {
			return -1
		}
		return highest(candidates, constraint.Check)
	}
	return -1
}

// highest returns the index of the highest version that fits, deprecated ones last.
func highest(candidates []Version, fits func(*semver.Version) bool) int {
	best := -1
	var bestVersion *semver.Version
	for i, c := range candidates {
		v, err := semver.StrictNewVersion(c.Version)
		if err != nil || !fits(v) {
			continue
		}
		if best >= 0 && !above(v, c.Deprecated, bestVersion, candidates[best].Deprecated) {
			continue
		}
		best, bestVersion = i, v
	}
	return best
}

// above orders versions for highest. Semver gives 1.0.0+a and 1.0.0+b the same rank; the text decides between them, so
// that the answer does not depend on the order of the candidates.
func above(v *semver.Version, deprecated bool, than *semver.Version, thanDeprecated bool) bool {
	if deprecated != thanDeprecated {
		return thanDeprecated
	}
	if order := v.Compare(than); order != 0 {
		return order > 0
	}
	return v.Metadata() > than.Metadata()
}
