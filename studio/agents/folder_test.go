package agents_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
)

func TestSamplesLoad(t *testing.T) {
	t.Parallel()
	samples, err := agents.LoadSamples(os.DirFS("../../samples"), agents.SampleNames())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range samples {
		if names[*s.Agent.Name] {
			t.Errorf("two samples make an agent %s", *s.Agent.Name)
		}
		names[*s.Agent.Name] = true
		if _, ok := (*s.Agent.Files)[*s.Agent.Entrypoint]; !ok || !json.Valid(s.Input) {
			t.Errorf("%s: no entry file, or its input is not JSON", s.Name)
		}
	}
}

func TestReadFolder(t *testing.T) {
	t.Parallel()
	folder, err := agents.ReadFolder(fstest.MapFS{
		"agent.yaml":  {Data: []byte("name: a\nlanguage: python\nruntime: auto\nisolation: strict\ntitle: 2026-11-22\nenvironment: {SINCE: 2026-11-22}\ninputSchema:\n  properties:\n    zebra: {type: string}\n    apple: {type: integer, maximum: 9007199254740993}\n")},
		"input.json":  {Data: []byte("{\"zebra\": 1}\n")},
		"main.py":     {Data: []byte("def main(): pass\n")},
		"lib/util.py": {Data: []byte("x = 1\n")},
		".git/config": {Data: []byte("secret")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if spec := agents.SpecOf(folder.Agent); spec.Runtime != runtimes.Auto || spec.Isolation != runtimes.Strict {
		t.Errorf("runtime %s, isolation %s", spec.Runtime, spec.Isolation)
	}
	if title, since := *folder.Agent.Title, (*folder.Agent.Environment)["SINCE"]; title != "2026-11-22" || since != title {
		t.Errorf("dates became %s and %s", title, since)
	}
	const want = `{"properties":{"zebra":{"type":"string"},"apple":{"type":"integer","maximum":9007199254740993}}}`
	if got := string(folder.Agent.InputSchema); got != want {
		t.Errorf("the schema lost its order or its digits: %s", got)
	}
	if len(*folder.Agent.Files) != 2 || string(folder.Example) != `{"zebra": 1}` {
		t.Errorf("files %v, example %s", *folder.Agent.Files, folder.Example)
	}
}

func TestReadFolderRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ yaml, want string }{
		"not YAML":        {"name: [", "agent.yaml"},
		"empty":           {"", "empty"},
		"unknown setting": {"name: a\ncolour: red\n", "colour"},
		"alias bomb":      {"a: &a [x]\nb: [*a, *a]\n", "aliases"},
		"deep nest":       {"name: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), "deep"},
		"a name twice":    {"name: a\nlimits:\n  timeoutMs: 1\n  timeoutMs: 2\n", `line 4: duplicate name "timeoutMs"`},
		"wrong type":      {"name: a\nlimits: many\n", "limits"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := agents.ReadFolder(fstest.MapFS{"agent.yaml": {Data: []byte(tt.yaml)}})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("error %v, want one about %q", err, tt.want)
			}
		})
	}
}
