package registry_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"weather": true, "a": true, "my-agent_2": true, "abcdef01": true, "registry2": true, "new-": true, strings.Repeat("a", 63): true,
		"": false, strings.Repeat("a", 64): false, "Weather": false, "2weather": false, "-a": false, "_a": false, "a.b": false,
		"a b": false, "a/b": false, "a@1": false, "wetter\n": false, "ärger": false, "registry": false, "new": false,
		"abcdef01-2345-6789-abcd-ef0123456789": false, "abcdef0123456789abcdef0123456789": false,
	}
	for name, ok := range tests {
		err := registry.CheckName(name)
		if (err == nil) != ok || (err != nil && !fault.Is(err, fault.InvalidInput)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestNameKey(t *testing.T) {
	t.Parallel()
	if registry.NameKey("my-fine_agent") != registry.NameKey("my_fine-agent") || registry.NameKey("ab") == registry.NameKey("a-b") {
		t.Error("names that a tool name cannot tell apart must conflict, and only those")
	}
}

func TestPaths_OnePath(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"main.ts": true, "lib/util.ts": true, "a.b/b..": true, "lib/agent.yaml": true, "a b.txt": true, "straße/データ.json": true, "🙂.txt": true,
		strings.Repeat("a", 255): true,
		"":                       false, ".env": false, "..a/b": false, "lib/.env": false, "agent.yaml": false, "input.json": false, "INPUT.json": false, ".": false, "..": false, "/": false, "/etc/passwd": false, "../x": false, "a/../../x": false, "a/../b": false,
		"a//b": false, "a/": false, "./a": false, "a/.": false, `a\b`: false, "c:x": false, "a\x00b": false, "a\nb": false, "a\x7f": false,
		"a\u0085": false, "a\u202egnp.js": false, "a\u200bb": false, "a\u00a0b": false, "a\xff": false, strings.Repeat("a", 256): false,
		strings.Repeat("ä", 128): false,
	}
	for path, ok := range tests {
		if problem := new(registry.Paths).Add(path); (problem == "") != ok {
			t.Errorf("%q: %q", path, problem)
		}
	}
}

func FuzzPaths_OnePath(f *testing.F) {
	for _, seed := range []string{"main.ts", "a/../b", "/x", "a\x00", "..", "lib/\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if new(registry.Paths).Add(p) != "" {
			return
		}
		for _, part := range strings.Split(p, "/") {
			if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\:\x00\n") {
				t.Errorf("%q is accepted", p)
			}
		}
	})
}
