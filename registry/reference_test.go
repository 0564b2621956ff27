package registry_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

func digestOf(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func TestParseReference(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agent, version string
		ok             bool
	}{
		"weather":                    {"weather", "", true},
		"weather@1.2.0":              {"weather", "1.2.0", true},
		"weather@^1":                 {"weather", "^1", true},
		"weather@>=1 <2":             {"weather", ">=1 <2", true},
		"weather@latest":             {"weather", "latest", true},
		"weather@draft":              {"weather", "draft", true},
		"weather@" + digestOf("a"):   {"weather", digestOf("a"), true},
		"weather@1.2.0-rc.1+b.7":     {"weather", "1.2.0-rc.1+b.7", true},
		"":                           {},
		"@1.2.0":                     {},
		"weather@":                   {},
		"weather@1.2.0@2":            {},
		"weather@next":               {},
		"weather@sha256:abc":         {},
		"weather@ 1.2.0":             {},
		"weather@" + digestOf("A"):   {},
		"weather@1.02.0":             {},
		"weather@" + long("^1 || "):  {},
		"weather@" + long("1.0.0-a"): {},
	}
	for in, tt := range tests {
		ref, err := registry.ParseReference(in)
		if (err == nil) != tt.ok {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if err != nil {
			if !fault.Is(err, fault.InvalidInput) {
				t.Errorf("%q: %v", in, err)
			}
			continue
		}
		if ref.Agent != tt.agent || ref.Version != tt.version || ref.String() != in {
			t.Errorf("%q: got %+v, %q", in, ref, ref.String())
		}
	}
}

func long(s string) string { return strings.Repeat(s, 100) + "1" }

func TestKindOf(t *testing.T) {
	t.Parallel()
	tests := map[string]registry.VersionKind{
		"1.2.0": registry.Exact, "1.2.0-rc.1": registry.Exact, "1.2.0+b": registry.Exact, "01.2.0": registry.Exact,
		"^1": registry.Range, "~1.2": registry.Range, "1.2": registry.Range, "1": registry.Range, "*": registry.Range, "v1.2.0": registry.Range,
		"=1.2.0": registry.Range, "1.2.0 - 2.0.0": registry.Range, "1.2.0-a - 2.0.0": registry.Range, "1.2.0 || 2.0.0": registry.Range, "1.2.x": registry.Range,
		"latest": registry.ByLatest, "draft": registry.ByDraft, digestOf("0"): registry.ByDigest, "sha256:": registry.ByDigest,
	}
	for version, want := range tests {
		if got := registry.KindOf(version); got != want {
			t.Errorf("%q: got %s, want %s", version, got, want)
		}
	}
}

func TestCheckSemver(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"0.0.0": true, "1.2.3": true, "1.2.3-rc.1": true, "1.2.3+build.5": true, "1.2.3-0a.b-c+d": true,
		"": false, "1": false, "1.2": false, "v1.2.3": false, "1.2.3.4": false, "01.2.3": false, "1.2.3-": false, "1.2.3-01": false, "1.2.3-a..b": false,
		"1.2.3+": false, " 1.2.3": false, "1.2.3\n": false, "1.2.x": false, "99999999999999999999.0.0": false, "-1.0.0": false,
		"1.2.9223372036854775807": true, "1.2.9223372036854775808": false, "1.18446744073709551615.0": false, "18446744073709551615.0.0": false,
	}
	for version, ok := range tests {
		if err := registry.CheckSemver(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	// A leading ! marks a deprecated version.
	tests := map[string]struct {
		version, candidates, want string
	}{
		"latest is the highest":             {"latest", "1.9.0 1.10.0 1.2.0", "1.10.0"},
		"latest is no pre-release":          {"latest", "1.0.0 2.0.0-rc.1", "1.0.0"},
		"latest, pre-releases only":         {"latest", "2.0.0-rc.1", ""},
		"latest without versions":           {"latest", "", ""},
		"latest is not deprecated":          {"latest", "1.0.0 !2.0.0", "1.0.0"},
		"latest, all deprecated":            {"latest", "!1.0.0 !2.0.0 !1.5.0", "2.0.0"},
		"caret":                             {"^1.2", "1.1.9 1.2.0 1.9.9 2.0.0", "1.9.9"},
		"caret below one":                   {"^0.2", "0.2.1 0.3.0", "0.2.1"},
		"tilde":                             {"~1.2", "1.2.0 1.2.7 1.3.0", "1.2.7"},
		"two bounds":                        {">=1 <2", "0.9.0 1.5.0 2.0.0", "1.5.0"},
		"either":                            {"^1 || ^3", "1.0.0 2.0.0 3.1.0", "3.1.0"},
		"a part of a version":               {"1.2", "1.2.3 1.3.0", "1.2.3"},
		"anything":                          {"*", "1.0.0 2.0.0-rc.1", "1.0.0"},
		"range without pre-release":         {"^1", "1.0.0 1.1.0-rc.1", "1.0.0"},
		"range with pre-release":            {">=1.1.0-0", "1.0.0 1.1.0-rc.1", "1.1.0-rc.1"},
		"range with an old pre-release":     {">=1.1.0-alpha", "1.1.0-beta 3.4.2 3.4.3-rc.1", "3.4.2"},
		"range with its own pre-release":    {">=1.1.0-alpha", "1.1.0-beta 3.4.3-rc.1", "1.1.0-beta"},
		"caret with another's pre-release":  {"^1.2.3-beta.2", "1.2.3-beta.4 1.2.4-beta.2", "1.2.3-beta.4"},
		"either, pre-release of the other":  {"1.1.0-a || >=2", "2.1.0-rc.1 1.1.0-a", "1.1.0-a"},
		"two bounds, pre-release of one":    {">=1.1.0-0 <1.1.1", "1.0.0 1.1.0-rc.1", "1.1.0-rc.1"},
		"pre-release below the upper bound": {">=1 <2.0.0", "1.0.0 2.0.0-rc.1", "1.0.0"},
		"range, deprecated last":            {"^1", "1.0.0 !1.5.0", "1.0.0"},
		"range, only deprecated fits":       {"^1", "!1.0.0 2.0.0", "1.0.0"},
		"range fits nothing":                {"^5", "1.0.0", ""},
		"no range":                          {"^", "1.0.0", ""},
		"exact":                             {"1.0.0", "1.0.0 1.0.1", "1.0.0"},
		"exact, deprecated":                 {"1.0.0", "!1.0.0", "1.0.0"},
		"exact pre-release":                 {"2.0.0-rc.1", "1.0.0 2.0.0-rc.1", "2.0.0-rc.1"},
		"exact, not there":                  {"1.0.2", "1.0.0 1.0.1", ""},
		"exact build":                       {"1.0.0+b", "1.0.0+a 1.0.0+b", "1.0.0+b"},
		"a draft is no version":             {"draft", "1.0.0", ""},
		"builds are ordered by text":        {"latest", "1.0.0+a 1.0.0+c 1.0.0+b", "1.0.0+c"},
		"an invalid version is skipped":     {"latest", "x 1.0.0", "1.0.0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var candidates []registry.Version
			for _, text := range strings.Fields(tt.candidates) {
				version, deprecated := strings.CutPrefix(text, "!")
				candidates = append(candidates, registry.Version{Version: version, Deprecated: deprecated})
			}
			got := ""
			if at := registry.Pick(tt.version, candidates); at >= 0 {
				got = candidates[at].Version
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPick_Ranges_LikeNPM checks that ranges select the same versions as in npm.
func TestPick_Ranges_LikeNPM(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/npm-ranges.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Versions []string
		Cases    [][4]string
	}
	if err := json.Unmarshal(text, &golden); err != nil || len(golden.Cases) < 150 {
		t.Fatal(len(golden.Cases), err)
	}
	sets := [3][]registry.Version{}
	for _, number := range golden.Versions {
		v := registry.Version{Version: number}
		kind := 2
		if strings.Contains(number, "-") {
			kind = 1
		}
		sets[0], sets[kind] = append(sets[0], v), append(sets[kind], v)
	}
	for _, c := range golden.Cases {
		for i, candidates := range sets {
			got := ""
			if at := registry.Pick(c[0], candidates); at >= 0 {
				got = candidates[at].Version
			}
			if got != c[1+i] {
				t.Errorf("%s: got %q of set %d, npm selects %q", c[0], got, i, c[1+i])
			}
		}
	}
}

func TestPickByDigest(t *testing.T) {
	t.Parallel()
	candidates := []registry.Version{{Version: "1.0.0", Digest: digestOf("a")}, {Version: "2.0.0", Digest: digestOf("b")}}
	if at := registry.Pick(digestOf("b"), candidates); at != 1 {
		t.Errorf("got %d", at)
	}
	if at := registry.Pick(digestOf("c"), candidates); at != -1 {
		t.Errorf("got %d", at)
	}
}

func FuzzParseReference(f *testing.F) {
	for _, seed := range []string{"a", "a@1.2.0", "a@^1 || ~2", "a@sha256:00", "a@latest", "@", "a@@", "a@1.0.0 - 2"} {
		f.Add(seed)
	}
	candidates := []registry.Version{{Version: "1.0.0"}, {Version: "2.0.0-rc.1", Deprecated: true}}
	f.Fuzz(func(t *testing.T, in string) {
		ref, err := registry.ParseReference(in)
		if err != nil {
			return
		}
		if ref.String() != in {
			t.Errorf("%q became %q", in, ref)
		}
		if at := registry.Pick(ref.Version, candidates); at >= len(candidates) {
			t.Errorf("%q picks %d", in, at)
		}
	})
}
