package advice

import (
	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/registry"
)

// First is the number of a first version that nobody gave one.
const First = "1.0.0"

// Base is the published version that a new number follows: the highest without pre-release that is not above it. It is
// "" if there is none. An empty number stands for the next after all.
func Base(number string, published []string) string {
	var limit *semver.Version
	if number != "" {
		v, err := semver.StrictNewVersion(number)
		if err != nil {
			return ""
		}
		core, _ := v.SetPrerelease("") // 2.0.0-rc.1 is on the way to 2.0.0
		limit = &core
		if v.Prerelease() == "" {
			limit = v
		}
	}
	var best *semver.Version
	for _, text := range published {
		v, err := semver.StrictNewVersion(text)
		if err != nil || v.Prerelease() != "" || (limit != nil && v.GreaterThan(limit)) {
			continue
		}
		if best == nil || v.GreaterThan(best) {
			best = v
		}
	}
	if best == nil {
		return ""
	}
	return best.Original()
}

// Next is the number that a bump makes. Before 1.0.0 anything may change, and by custom the middle number stands for
// what breaks: leaving 0 is a decision that people make, not a program.
func Next(base string, bump registry.Bump) (string, error) {
	v, err := semver.StrictNewVersion(base)
	if err != nil {
		return "", err
	}
	if v.Major() == 0 {
		switch bump {
		case registry.MajorBump:
			return v.IncMinor().String(), nil
		case registry.MinorBump:
			return v.IncPatch().String(), nil
		case registry.PatchBump, registry.NoBump:
		}
	}
	switch bump {
	case registry.MajorBump:
		return v.IncMajor().String(), nil
	case registry.MinorBump:
		return v.IncMinor().String(), nil
	case registry.PatchBump, registry.NoBump:
	}
	return v.IncPatch().String(), nil
}

// Large reports whether a number is at least as far from its base as a bump asks for. A pre-release is as large as what
// it leads to; build metadata does not count.
func Large(number, base string, bump registry.Bump) (bool, error) {
	v, err := semver.StrictNewVersion(number)
	if err != nil {
		return false, err
	}
	if bump == registry.NoBump {
		return true, nil
	}
	text, err := Next(base, bump)
	if err != nil {
		return false, err
	}
	least, err := semver.StrictNewVersion(text)
	if err != nil {
		return false, err
	}
	core, err := v.SetPrerelease("")
	if err != nil {
		return false, err
	}
	return core.Compare(least) >= 0, nil
}

// Promoted is the number that a first stable version has when there were only pre-releases: that of the highest.
func Promoted(published []string) string {
	var best *semver.Version
	for _, text := range published {
		if v, err := semver.StrictNewVersion(text); err == nil && (best == nil || v.GreaterThan(best)) {
			best = v
		}
	}
	if best == nil {
		return First
	}
	core, err := best.SetPrerelease("")
	if err != nil {
		return First
	}
	core, err = core.SetMetadata("")
	if err != nil {
		return First
	}
	return core.String()
}
