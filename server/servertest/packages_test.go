package servertest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/server/servertest"
)

// withPackages configures a server for the packages of an index.
func withPackages(t *testing.T, index *packagestest.Index, dir string) servertest.Setup {
	t.Helper()
	return servertest.Flags(t, map[string]string{"python-index": index.Simple(), "npm-registry": index.NPM(), "uv": packagestest.UV(t), "packages-dir": dir})
}

func greetings(version string) packagestest.Wheel {
	return packagestest.Wheel{
		Name: "greetings", Version: version, License: "MIT", Requires: []string{"shout>=1"},
		Files: map[string]string{"greetings/__init__.py": "from shout import shout\nVERSION = '" + version + "'\n\ndef greet(name):\n    return shout('hello ' + name)\n"},
	}
}

func shouting() packagestest.Wheel {
	return packagestest.Wheel{Name: "shout", Version: "1.0.0", Files: map[string]string{"shout.py": "def shout(text):\n    return text.upper()\n"}}
}

const greeter = "import greetings\n\ndef main(name):\n    return {'text': greetings.greet(name), 'version': greetings.VERSION}\n"

// TestPackages_Python runs and publishes an agent with a package. The version keeps its packages: after a restart it runs
// without the index, although the draft's list allows a newer version.
func TestPackages_Python(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greetings("1.0.0"), shouting())
	data, dir := t.TempDir(), packagestest.Dir(t)
	s := servertest.On(t, data, withPackages(t, index, dir))
	s.Create(t, map[string]any{"name": "greeter", "language": "python", "code": greeter, "packages": []string{"greetings>=1"}})
	run := s.Execute(t, "greeter", "draft", map[string]any{"name": "Ada"})
	if !run.Success || string(run.Output) != `{"text":"HELLO ADA","version":"1.0.0"}` {
		t.Fatalf("the draft: %+v", run)
	}
	events := s.Want(t, 200, "GET", "/api/v1/runs/"+run.RunID+"/events", nil).Body
	for _, message := range []string{"resolving packages", "downloading 2 of 2 packages", "unpacking packages"} {
		if !strings.Contains(string(events), message) {
			t.Errorf("no event %q in %s", message, events)
		}
	}
	index.Add(t, greetings("1.1.0"))
	s.Publish(t, "greeter", "1.0.0")
	var version struct {
		Lock struct {
			Packages []struct{ Name, Version, Hash string } `json:"packages"`
		} `json:"lock"`
	}
	if err := json.Unmarshal(s.Want(t, 200, "GET", "/api/v1/code-agents/greeter/versions/1.0.0", nil).Body, &version); err != nil {
		t.Fatal(err)
	}
	if locked := version.Lock.Packages; len(locked) != 2 || locked[0].Version != "1.0.0" {
		t.Fatalf("the version is locked to %+v", locked)
	}
	index.Close()
	s.Stop(t)
	s = servertest.On(t, data, withPackages(t, index, dir))
	if run = s.Execute(t, "greeter", "1.0.0", map[string]any{"name": "Bob"}); !run.Success || string(run.Output) != `{"text":"HELLO BOB","version":"1.0.0"}` {
		t.Fatalf("the version after a restart: %+v", run)
	}
}

// TestPackages_NPM runs and publishes an agent with an npm package in both engines of JavaScript, and runs the versions
// after a restart without the registry.
func TestPackages_NPM(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t)
	index.AddNPM(t, packagestest.Tarball{
		Name: "greetings", Version: "1.0.0", Dependencies: map[string]string{"@loud/shout": "^1"},
		Manifest: map[string]any{"type": "module", "exports": map[string]any{".": map[string]any{"types": "./index.d.ts", "import": "./lib/index.js"}, "./polite": "./lib/polite.js"}},
		Files: map[string]string{
			"lib/index.js":  "import shout from '@loud/shout';\nexport const greet = (name) => shout('hello ' + name);\n",
			"lib/polite.js": "export const polite = (name) => 'Dear ' + name;\n",
		},
	})
	index.AddNPM(t, packagestest.Tarball{Name: "@loud/shout", Version: "1.2.0", Files: map[string]string{"index.js": "module.exports = (text) => text.toUpperCase()"}})
	data, dir := t.TempDir(), packagestest.Dir(t)
	s := servertest.On(t, data, withPackages(t, index, dir))
	const code = "import { greet } from 'greetings';\nimport { polite } from 'greetings/polite';\nexport default (input: { name: string }) => ({ text: greet(input.name), polite: polite(input.name) });\n"
	const want = `{"text":"HELLO ADA","polite":"Dear Ada"}`
	for _, runtime := range []string{"node", "goja", "auto"} {
		s.Create(t, map[string]any{"name": "greeter-" + runtime, "language": "typescript", "runtime": runtime, "code": code, "packages": []string{"greetings@^1"}})
		if run := s.Execute(t, "greeter-"+runtime, "draft", map[string]any{"name": "Ada"}); !run.Success || string(run.Output) != want {
			t.Fatalf("the draft in %s: %+v %+v", runtime, run.Error, run)
		}
		s.Publish(t, "greeter-"+runtime, "1.0.0")
	}
	index.Close()
	s.Stop(t)
	s = servertest.On(t, data, withPackages(t, index, dir))
	for _, runtime := range []string{"node", "goja", "auto"} {
		if run := s.Execute(t, "greeter-"+runtime, "1.0.0", map[string]any{"name": "Ada"}); !run.Success || string(run.Output) != want {
			t.Fatalf("the version in %s after a restart: %+v %+v", runtime, run.Error, run)
		}
	}
}
