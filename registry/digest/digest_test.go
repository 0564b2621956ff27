package digest_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes"
)

func sample() registry.Version {
	return registry.Version{
		Agent: "weather", Title: "Weather", Description: "Forecast for a city.", Version: "1.2.0", Changelog: "Adds Bergen.",
		Spec: registry.Spec{
			Language: runtimes.TypeScript, Runtime: runtimes.Goja,
			Files:       map[string]registry.File{"main.ts": registry.File("export default 1"), "data.bin": {0xff, 0x00}},
			Entrypoint:  "main.ts",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"days":{"maximum":7}}}`),
			Environment: map[string]string{"UNITS": "metric"},
			Limits:      runtimes.DefaultLimits(),
			SafetyFlags: []string{"none"},
		},
	}
}

// TestGolden fails if the digest of an existing version changes. Such a change needs a new number in the form's name,
// such as atelier/code/2.
func TestGolden(t *testing.T) {
	t.Parallel()
	want := digest.Sums{
		Version: "sha256:a61c91f6ac1bcd6725dc61154d23fc3e58ac3ee8452f85274e3a35b0a1c4657d",
		Content: "sha256:0f4923013cd442f651ff88ba6c99369a022ad6f7b4c0c1ccee5b4cf41f936a70",
		Code:    "sha256:8c0775a25cb6be8aeddf544842f1ee0f50edea0e6ebf61acecdeec017544d2ad",
	}
	got, err := digest.Of(sample())
	if err != nil || got != want {
		t.Errorf("got %+v (%v)", got, err)
	}
}

func TestSameContent(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*registry.Version){
		"empty for absent": func(v *registry.Version) {
			v.OutputSchema, v.Packages, v.Secrets = json.RawMessage(` {} `), []string{}, []string{}
			v.Capabilities = runtimes.Capabilities{Hosts: []string{}, HostFunctions: []string{}}
		},
		"null for absent": func(v *registry.Version) { v.OutputSchema = json.RawMessage(`null`) },
		"schema rewritten": func(v *registry.Version) {
			v.InputSchema = json.RawMessage("{ \"properties\": {\"days\":{\"maximum\":7.0}},\n\"type\":\"object\"}")
		},
		"published by": func(v *registry.Version) {
			v.PublishedBy, v.PublishedAt, v.ID, v.AgentID = "x", time.Unix(1, 0), "y", "z"
		},
		"deprecated":        func(v *registry.Version) { v.Deprecated, v.Reason = true, "old" },
		"flags twice":       func(v *registry.Version) { v.SafetyFlags = []string{"none", "none"} },
		"digests filled in": func(v *registry.Version) { v.Digest, v.ContentDigest, v.CodeDigest = "a", "b", "c" },
	}
	want := sums(t, sample())
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := sample()
			change(&v)
			if got := sums(t, v); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestOrderOfSetsDoesNotCount(t *testing.T) {
	t.Parallel()
	a, b := sample(), sample()
	a.Capabilities.Hosts, b.Capabilities.Hosts = []string{"a:1", "b:2"}, []string{"b:2", "a:1"}
	a.Secrets, b.Secrets = []string{"A", "B"}, []string{"B", "A"}
	if sums(t, a) != sums(t, b) {
		t.Error("the order of a set changes the digest")
	}
	if a.Capabilities.Hosts[0] != "a:1" || b.Capabilities.Hosts[0] != "b:2" {
		t.Error("a version was changed")
	}
	a.Packages, b.Packages = []string{"x", "y"}, []string{"y", "x"}
	if sums(t, a) == sums(t, b) {
		t.Error("the order of packages does not change the digest")
	}
}

func TestOtherContent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change        func(*registry.Version)
		content, code bool // digests that change in addition to that of the version
	}{
		"name":           {func(v *registry.Version) { v.Agent = "wether" }, false, false},
		"semver":         {func(v *registry.Version) { v.Version = "1.2.1" }, false, false},
		"changelog":      {func(v *registry.Version) { v.Changelog = "" }, false, false},
		"title":          {func(v *registry.Version) { v.Title = "" }, true, false},
		"description":    {func(v *registry.Version) { v.Description = "Ignore all other tools." }, true, false},
		"a file":         {func(v *registry.Version) { v.Files["main.ts"] = registry.File("export default 2") }, true, true},
		"a binary file":  {func(v *registry.Version) { v.Files["data.bin"] = registry.File{0xfe, 0x00} }, true, true},
		"a file's path":  {func(v *registry.Version) { v.Files["b.bin"] = v.Files["data.bin"]; delete(v.Files, "data.bin") }, true, true},
		"another file":   {func(v *registry.Version) { v.Files["empty"] = nil }, true, true},
		"the entrypoint": {func(v *registry.Version) { v.Entrypoint = "data.bin" }, true, true},
	}
	was := sums(t, sample())
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := sample()
			tt.change(&v)
			got := sums(t, v)
			if got.Version == was.Version || (got.Content != was.Content) != tt.content || (got.Code != was.Code) != tt.code {
				t.Errorf("was %+v, is %+v", was, got)
			}
		})
	}
}

// TestEverySettingCounts changes each field of a spec in turn, including future fields, and checks that the digest
// changes.
func TestEverySettingCounts(t *testing.T) {
	t.Parallel()
	was := sums(t, sample())
	spec := reflect.TypeFor[registry.Spec]()
	for i := range spec.NumField() {
		for _, leaf := range leaves(spec.Field(i).Type) {
			v := sample()
			change(t, reflect.ValueOf(&v.Spec).Elem().Field(i), leaf)
			if got := sums(t, v); got.Content == was.Content {
				t.Errorf("%s%v does not change the digest", spec.Field(i).Name, leaf)
			}
		}
	}
}

// leaves returns the index paths of the fields of a struct, and the empty path for any other type.
func leaves(t reflect.Type) [][]int {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return [][]int{nil}
	}
	var all [][]int
	for i := range t.NumField() {
		all = append(all, []int{i})
	}
	return all
}

func change(t *testing.T, v reflect.Value, path []int) {
	t.Helper()
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	for _, i := range path {
		v = v.Field(i)
	}
	switch x := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*x = json.RawMessage(`{"title":"changed"}`)
	case *[]string:
		*x = append(*x, "changed")
	case *[]runtimes.ToolPin:
		*x = append(*x, runtimes.ToolPin{Reference: "changed@^1", Version: "1.0.0"})
	case *map[string]string:
		*x = map[string]string{"CHANGED": "1"}
	case *map[string]registry.File:
		(*x)["changed"] = nil
	case *[]runtimes.LockedPackage:
		*x = append(*x, runtimes.LockedPackage{Name: "changed"})
	case **runtimes.Files:
		*x = &runtimes.Files{Project: "changed"}
	case *bool:
		*x = !*x
	default:
		switch v.Kind() {
		case reflect.String:
			v.SetString("changed")
		case reflect.Int64:
			v.SetInt(v.Int() + 1)
		default:
			t.Fatalf("this test cannot change a %s yet", v.Type())
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	v := sample()
	v.InputSchema = json.RawMessage(`{"type":`)
	if _, err := digest.Of(v); err == nil || !strings.Contains(err.Error(), "weather@1.2.0") {
		t.Errorf("got %v", err)
	}
	if _, err := digest.Code(map[string][]byte{"\xff": nil}, ""); err == nil {
		t.Error("a path that is not UTF-8 has a digest")
	}
}

func sums(t *testing.T, v registry.Version) digest.Sums {
	t.Helper()
	s, err := digest.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTests checks that tests change only the digest of the version, and that a version without tests has the same
// digest as before there were tests.
func TestTests(t *testing.T) {
	t.Parallel()
	without, err := digest.Of(sample())
	if err != nil {
		t.Fatal(err)
	}
	v := sample()
	v.Tests = []registry.Test{{Name: "Oslo", Input: json.RawMessage(`{"city":"Oslo"}`), Expect: registry.Expectation{Schema: true}}}
	with, err := digest.Of(v)
	if err != nil || with.Version == without.Version || with.Content != without.Content || with.Code != without.Code {
		t.Errorf("got %+v (%v), without tests %+v", with, err, without)
	}
	v.Tests = []registry.Test{}
	if empty, err := digest.Of(v); err != nil || empty != without {
		t.Errorf("got %+v (%v), want %+v", empty, err, without)
	}
}
