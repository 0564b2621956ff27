package registry

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/internal/fault"
)

// Latest and DraftVersion are keywords that a reference may contain instead of a version.
const (
	Latest       = "latest"
	DraftVersion = "draft"
)

// Reference names a version of an agent: name@1.2.0, name@^1, name@~1.2, name@>=1 <2, name@latest, name@sha256:….
// Version contains the text after @ unchanged. "" means that the reference has no version; a call rejects such a
// reference.
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

// ParseReference splits "name@version". If the text has no version, Version is empty.
func ParseReference(s string) (Reference, error) {
	agent, version, pinned := strings.Cut(s, "@")
	if agent == "" || (pinned && version == "") {
		return Reference{}, fault.Invalid("/reference", "must be name@1.2.0, name@^1, name@latest or name@sha256:….")
	}
	ref := Reference{Agent: agent, Version: version}
	if version == "" {
		return ref, nil
	}
	return ref, CheckVersionRange(version)
}

// Candidates holds the versions that may match a reference, and the current name of the agent. The name is "" if the
// agent does not exist.
type Candidates struct {
	Agent    string
	Versions []Version
}

// VersionKind says how a reference selects a version.
type VersionKind string

// These are the values of VersionKind. References of the kinds Exact and ByDigest are pinned.
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

// KindOf returns the kind of a version reference. It does not check the syntax; CheckVersionRange does.
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

// maxRange is the maximum length of a version reference in bytes.
const maxRange = 256

// CheckVersionRange checks the syntax of a version reference.
func CheckVersionRange(version string) error {
	if len(version) > maxRange || version != strings.TrimSpace(version) {
		return fault.Invalid("/version", "must have at most %d bytes and no spaces at the start or end.", maxRange)
	}
	switch KindOf(version) {
	case ByLatest, ByDraft:
		return nil
	case ByDigest:
		if !digestForm.MatchString(version) {
			return fault.Invalid("/version", "must be a digest: sha256: followed by 64 hexadecimal digits.")
		}
	case Exact:
		return CheckSemver(version)
	case Range:
		if _, err := rangeOf(version); err != nil {
			return fault.Invalid("/version", "must be 1.2.0, ^1, ~1.2, a range, latest or sha256:….")
		}
	}
	return nil
}

// CheckSemver checks that a string is a semantic version (semver.org 2.0.0) without a leading v. It rejects a version
// with the largest 64-bit number, because the server must be able to add one to each number.
func CheckSemver(version string) error {
	v, err := semver.StrictNewVersion(version)
	switch {
	case err != nil:
		return fault.Invalid("/version", "must be a semantic version, for example 1.2.0 or 2.0.0-rc.1.")
	case max(v.Major(), v.Minor(), v.Patch()) > math.MaxInt64:
		return fault.Invalid("/version", "must have numbers of at most %d.", math.MaxInt64)
	}
	return nil
}

// Pick returns the index of the version that a reference selects. It returns -1 if no version fits or the reference
// names the draft. An exact version and a digest select only that version. A range and latest select the highest
// version without pre-release. Pre-releases match as in npm (see rangeOf). Pick selects a deprecated version only if no
// other version fits.
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
		fits, err := rangeOf(version)
		if err != nil {
			return -1
		}
		return highest(candidates, fits)
	}
	return -1
}

// comparatorForm matches each version in a range that has a pre-release.
var comparatorForm = regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)-[0-9A-Za-z.-]`)

// rangeOf returns the condition of a range. Pre-releases follow the rule of npm. A pre-release fits only if the same
// alternative of the range names a pre-release of the same major, minor and patch. So >=1.1.0-alpha allows 1.1.0-beta
// and 3.4.2, but not 3.4.3-rc.1.
func rangeOf(text string) (func(*semver.Version) bool, error) {
	type alternative struct {
		constraint *semver.Constraints
		named      [][]string // major, minor and patch of the pre-releases in the alternative
	}
	var alternatives []alternative
	for part := range strings.SplitSeq(text, "||") {
		constraint, err := semver.NewConstraint(part)
		if err != nil {
			return nil, err
		}
		alternatives = append(alternatives, alternative{constraint, comparatorForm.FindAllStringSubmatch(part, -1)})
	}
	return func(v *semver.Version) bool {
		core := []string{strconv.FormatUint(v.Major(), 10), strconv.FormatUint(v.Minor(), 10), strconv.FormatUint(v.Patch(), 10)}
		return slices.ContainsFunc(alternatives, func(a alternative) bool {
			allowed := v.Prerelease() == "" || slices.ContainsFunc(a.named, func(named []string) bool { return slices.Equal(named[1:], core) })
			return allowed && a.constraint.Check(v)
		})
	}, nil
}

// highest returns the index of the highest version that fits. A deprecated version ranks below all other versions.
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

// above reports whether a version ranks above another version in highest. Semver gives 1.0.0+a and 1.0.0+b the same
// rank. For such versions above compares the texts, so the result does not depend on the order of the candidates.
func above(v *semver.Version, deprecated bool, than *semver.Version, thanDeprecated bool) bool {
	if deprecated != thanDeprecated {
		return thanDeprecated
	}
	if order := v.Compare(than); order != 0 {
		return order > 0
	}
	return v.Metadata() > than.Metadata()
}
