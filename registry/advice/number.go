package advice

import (
	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/registry"
)

// First is the default number of an agent's first version.
const First = "1.0.0"

// Base returns the published version with which a new version is compared. That is the highest stable version that is
// not above the new number. If the new number is empty, every stable version counts. Base returns "" if there is no
// such version.
func Base(number string, published []string) string {
	var limit *semver.Version
	if number != "" {
		v, err := semver.StrictNewVersion(number)
		if err != nil {
			return ""
		}
		core, _ := v.SetPrerelease("") // 2.0.0-rc.1 precedes 2.0.0
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

// Previous returns the index of the highest published version that is not above a number, or -1 if there is none. For a
// stable number, Previous ignores pre-releases. It always ignores build metadata.
func Previous(number string, published []string) int {
	limit, err := semver.StrictNewVersion(number)
	if err != nil {
		return -1
	}
	at, best := -1, (*semver.Version)(nil)
	for i, text := range published {
		v, err := semver.StrictNewVersion(text)
		if err != nil || v.GreaterThan(limit) || (v.Prerelease() != "" && limit.Prerelease() == "") {
			continue
		}
		if best == nil || v.GreaterThan(best) {
			at, best = i, v
		}
	}
	return at
}

// Next returns the version number that follows base after a bump. For 0.x a breaking change increases the minor number,
// as is customary. Next never proposes 1.0.0 for a 0.x version, because a person decides when to publish 1.0.0.
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

// Large reports whether the difference between a number and its base is at least the given bump. A pre-release such as
// 2.0.0-rc.1 counts as 2.0.0. Build metadata is ignored.
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

// Promoted returns the number of the first stable version after pre-releases: the highest pre-release number without
// its suffix.
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
