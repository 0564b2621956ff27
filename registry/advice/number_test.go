package advice_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/advice"
)

// TestSemverOrgOrder checks the examples of precedence from semver.org, which are in ascending order. Build metadata
// must not change the order.
func TestSemverOrgOrder(t *testing.T) {
	t.Parallel()
	rising, pairs := [][]string{
		{"1.0.0", "2.0.0", "2.1.0", "2.1.1"},
		{"1.0.0-alpha", "1.0.0"},
		{"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0"},
		{"1.9.0", "1.10.0", "1.11.0"},
		{"1.0.0-0.3.7", "1.0.0-x.7.z.92", "1.0.0-x-y-z.4"}, // numeric identifiers are lower than alphanumeric ones
	}, 0
	for _, versions := range rising {
		for i := range versions {
			for j := range versions {
				a, errA := semver.StrictNewVersion(versions[i])
				b, errB := semver.StrictNewVersion(versions[j] + "+build.7")
				if errA != nil || errB != nil {
					t.Fatal(errA, errB)
				}
				if want := sign(i - j); a.Compare(b) != want {
					t.Errorf("%s to %s is %d, want %d", versions[i], versions[j], a.Compare(b), want)
				}
				pairs++
				// latest ignores pre-releases, so it shows the order only of stable versions.
				latest := registry.Pick(registry.Latest, []registry.Version{{Version: versions[i]}, {Version: versions[j]}})
				if a.Prerelease() == "" && b.Prerelease() == "" && latest != 0 && i > j {
					t.Errorf("latest of %s and %s is the second", versions[i], versions[j])
				}
			}
		}
	}
	t.Logf("semver.org, order: %d pairs; nothing is left out", pairs)
}

// TestSemverOrgForm checks the lists of valid and invalid versions that the FAQ of semver.org links to.
func TestSemverOrgForm(t *testing.T) {
	t.Parallel()
	valid := strings.Fields(`0.0.4 1.2.3 10.20.30 1.1.2-prerelease+meta 1.1.2+meta 1.1.2+meta-valid 1.0.0-alpha 1.0.0-beta 1.0.0-alpha.beta 1.0.0-alpha.beta.1
		1.0.0-alpha.1 1.0.0-alpha0.valid 1.0.0-alpha.0valid 1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay 1.0.0-rc.1+build.1 2.0.0-rc.1+build.123
		1.2.3-beta 10.2.3-DEV-SNAPSHOT 1.2.3-SNAPSHOT-123 1.0.0 2.0.0 1.1.7 2.0.0+build.1848 2.0.1-alpha.1227 1.0.0-alpha+beta
		1.2.3----RC-SNAPSHOT.12.9.1--.12+788 1.2.3----R-S.12.9.1--.12+meta 1.2.3----RC-SNAPSHOT.12.9.1--.12 1.0.0+0.build.1-rc.10000aaa-kk-0.1
		99999999999999999999999.999999999999999999.99999999999999999 1.0.0-0A.is.legal`)
	invalid := strings.Fields(`1 1.2 1.2.3-0123 1.2.3-0123.0123 1.1.2+.123 +invalid -invalid -invalid+invalid -invalid.01 alpha alpha.beta alpha.beta.1 alpha.1
		alpha+beta alpha_beta alpha. alpha.. beta 1.0.0-alpha_beta -alpha. 1.0.0-alpha.. 1.0.0-alpha..1 1.0.0-alpha...1 1.0.0-alpha....1 1.0.0-alpha.....1
		1.0.0-alpha......1 1.0.0-alpha.......1 01.1.1 1.01.1 1.1.01 1.2.3.DEV 1.2-SNAPSHOT 1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788 1.2-RC-SNAPSHOT
		-1.0.3-gamma+b7718 +justmeta 9.8.7+meta+meta 9.8.7-whatever+meta+meta
		99999999999999999999999.999999999999999999.99999999999999999----RC-SNAPSHOT.12.09.1--------------------------------..12`)
	// A number beyond 64 bits is rejected, not truncated.
	leftOut := map[string]bool{"99999999999999999999999.999999999999999999.99999999999999999": true}
	for _, text := range append(valid, "1.0.0-alpha+001", "1.0.0+20130313144700", "1.0.0-beta+exp.sha.5114f85", "1.0.0+21AF26D3----117B344092BD") {
		if err := registry.CheckSemver(text); (err != nil) != leftOut[text] {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range append(invalid, "", "v1.2.3", "1.2.3-", "1.2.3+", "1.2.3-ä") {
		if registry.CheckSemver(text) == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	t.Logf("semver.org, form: %d of %d valid versions are accepted, %d invalid ones are rejected; left out, because its numbers exceed 64 bits: %s",
		len(valid)-len(leftOut), len(valid), len(invalid), slices.Collect(maps.Keys(leftOut))[0])
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestBase(t *testing.T) {
	t.Parallel()
	published := []string{"1.0.0", "1.1.0", "2.0.0", "2.1.0-rc.1", "0.9.0"}
	for number, want := range map[string]string{
		"": "2.0.0", "1.1.1": "1.1.0", "1.1.0": "1.1.0", "2.0.0-rc.1": "2.0.0", "1.2.0-beta": "1.1.0", "3.0.0+build": "2.0.0", "0.1.0": "", "9.0.0": "2.0.0",
	} {
		if got := advice.Base(number, published); got != want {
			t.Errorf("the base of %q is %q, want %q", number, got, want)
		}
	}
}

func TestNextAndLarge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		base string
		bump registry.Bump
		next string
		fits map[string]bool
	}{
		{"1.2.3", registry.MajorBump, "2.0.0", map[string]bool{"2.0.0": true, "1.9.0": false, "2.0.0-rc.1": true, "1.9.9-rc.1": false, "3.1.0": true}},
		{"1.2.3", registry.MinorBump, "1.3.0", map[string]bool{"1.3.0": true, "1.2.4": false, "2.0.0": true, "1.3.0+b": true}},
		{"1.2.3", registry.PatchBump, "1.2.4", map[string]bool{"1.2.4": true, "1.2.3+b": false, "1.2.4-a": true}},
		{"1.2.3", registry.NoBump, "1.2.4", map[string]bool{"1.2.3+b": true}},
		{"0.2.3", registry.MajorBump, "0.3.0", map[string]bool{"0.3.0": true, "0.2.4": false, "1.0.0": true}},
		{"0.2.3", registry.MinorBump, "0.2.4", map[string]bool{"0.2.4": true}},
	}
	for _, tt := range tests {
		if got, err := advice.Next(tt.base, tt.bump); err != nil || got != tt.next {
			t.Errorf("%s after %s is %q, %v", tt.bump, tt.base, got, err)
		}
		for number, want := range tt.fits {
			if got, err := advice.Large(number, tt.base, tt.bump); err != nil || got != want {
				t.Errorf("%s after %s for %s: %v, %v", number, tt.base, tt.bump, got, err)
			}
		}
	}
}

func TestPromoted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		published []string
		want      string
	}{{nil, "1.0.0"}, {[]string{"2.0.0-rc.1", "2.0.0-rc.2", "1.5.0-a"}, "2.0.0"}} {
		if got := advice.Promoted(tt.published); got != tt.want {
			t.Errorf("%v becomes %s", tt.published, got)
		}
	}
}
