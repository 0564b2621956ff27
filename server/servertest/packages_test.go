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

// TestPackages_Python runs and publishes an agent with a package. The version keeps its exact packages: after a restart
// it runs without the index, although the draft's list allows a newer version of the package.
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

// TestPackages_NPM runs and publishes an agent with an npm package in both JavaScript engines. After a restart, the
// versions must run without the registry.
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

// TestPackages_Versions runs two versions with different major versions of a package. The comparison, the bill of
// materials and the list of installations must name them. Packages that no version and no recent draft uses must be
// removed.
func TestPackages_Versions(t *testing.T) {
	t.Parallel()
	model := func(version string) packagestest.Wheel {
		return packagestest.Wheel{Name: "pydantic", Version: version, License: "MIT", Files: map[string]string{"pydantic/__init__.py": "VERSION = '" + version + "'\n"}}
	}
	index := packagestest.NewIndex(t, model("1.10.0"), model("2.9.0"))
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	s.Create(t, map[string]any{"name": "models", "language": "python", "code": "import pydantic\n\ndef main():\n    return {'version': pydantic.VERSION}\n", "packages": []string{"pydantic<2"}})
	s.Publish(t, "models", "1.0.0")
	s.Want(t, 200, "PUT", "/api/v1/code-agents/models", map[string]any{"packages": []string{"pydantic>=2"}}, servertest.Headers{"If-Match": `"1"`})
	for range 2 {
		for version, want := range map[string]string{"1.0.0": "1.10.0", "draft": "2.9.0"} {
			if run := s.Execute(t, "models", version, map[string]any{}); !run.Success || string(run.Output) != `{"version":"`+want+`"}` {
				t.Fatalf("%s: %+v %s", version, run.Error, run.Output)
			}
		}
	}
	s.Publish(t, "models", "2.0.0")
	for path, wanted := range map[string][]string{
		"/code-agents/models/versions/1.0.0/diff/2.0.0": {`"packages":[{"name":"pydantic","before":"1.10.0","after":"2.9.0"}]`},
		"/code-agents/models/versions/2.0.0/sbom":       {`"bomFormat":"CycloneDX"`, `"purl":"pkg:pypi/pydantic@2.9.0"`, `"name":"MIT"`, `"alg":"SHA-256"`},
		"/packages/installed":                           {`"name":"pydantic","version":"1.10.0"`, `"agent":"models","version":"1.0.0"`},
	} {
		body := string(s.Want(t, 200, "GET", "/api/v1"+path, nil).Body)
		for _, want := range wanted {
			if !strings.Contains(body, want) {
				t.Errorf("%s has no %s: %s", path, want, body)
			}
		}
	}
	index.Add(t, model("2.10.0"))
	if body := string(s.Want(t, 200, "POST", "/api/v1/code-agents/models/packages/resolve", `{"renew":true}`).Body); !strings.Contains(body, `"changes":[{"name":"pydantic","before":"2.9.0","after":"2.10.0"}]`) {
		t.Errorf("resolved again: %s", body)
	}
	s.Want(t, 422, "POST", "/api/v1/packages/gc", `{"unusedHours":0}`)
	if body := string(s.Want(t, 200, "POST", "/api/v1/packages/gc", `{"unusedHours":1}`).Body); !strings.Contains(body, `"locks":0`) {
		t.Errorf("removed what versions have: %s", body)
	}
}

// TestPackages_Refused checks that the error about a list that cannot be installed names the package and a fix. An
// agent that ran before must still run.
func TestPackages_Refused(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, shouting())
	index.Add(t, packagestest.Wheel{Name: "evil", Version: "1.0", Members: []packagestest.Member{{Name: "../../evil.py", Content: "1"}}})
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	for _, bad := range []string{"-r /etc/passwd", "x @ http://127.0.0.1/x.whl", "git+https://x.test/y"} {
		refused := s.Want(t, 422, "POST", "/api/v1/code-agents", map[string]any{"name": "bad", "language": "python", "code": "def main(): pass", "packages": []string{"shout", bad}}).Problem(t)
		if len(refused.Errors) != 1 || refused.Errors[0].Pointer != "/packages/1" {
			t.Errorf("%s: %+v", bad, refused)
		}
	}
	s.Want(t, 422, "POST", "/api/v1/code-agents", map[string]any{"name": "bad", "language": "bash", "code": "true", "packages": []string{"shout"}})
	index.Add(t, packagestest.Wheel{Name: "quiet", Version: "1.0", Requires: []string{"shout<1"}, Files: map[string]string{"quiet.py": ""}})
	s.Create(t, map[string]any{"name": "torn", "language": "python", "code": "def main(): pass", "packages": []string{"evil", "quiet", "shout>=1"}})
	answer := s.Want(t, 422, "POST", "/api/v1/code-agents/torn/packages/resolve", `{}`)
	if refused := answer.Problem(t); len(refused.Errors) != 2 || refused.Errors[0].Pointer != "/packages/1" || refused.Errors[1].Pointer != "/packages/2" || refused.Errors[1].Code != "conflict" || !strings.Contains(string(answer.Body), `"packages":["quiet","shout"]`) {
		t.Errorf("a contradiction: %s", answer.Body)
	}
	s.Create(t, map[string]any{"name": "loud", "language": "python", "code": "import shout\n\ndef main():\n    return {'text': shout.shout('a')}\n", "packages": []string{"shout"}})
	s.Publish(t, "loud", "1.0.0")
	for name, want := range map[string]string{"missing": "missing was not found in the package index", "evil": "evil contains the path"} {
		s.Create(t, map[string]any{"name": "uses-" + name, "language": "python", "code": "def main():\n    return 1\n", "packages": []string{name}})
		run := s.Execute(t, "uses-"+name, "draft", map[string]any{})
		if run.Success || run.Error == nil || !strings.Contains(run.Error.Message, want) || run.Error.Remedy == "" {
			t.Errorf("%s: %+v", name, run.Error)
		}
		refused := s.Want(t, 422, "POST", "/api/v1/code-agents/uses-"+name+"/versions", `{"version":"1.0.0"}`).Problem(t)
		if len(refused.Errors) != 1 || !strings.HasPrefix(refused.Errors[0].Pointer, "/packages") || refused.Remedy == "" {
			t.Errorf("publishing %s: %+v", name, refused)
		}
	}
	index.Close()
	s.Create(t, map[string]any{"name": "late", "language": "python", "code": "def main():\n    return 1\n", "packages": []string{"shout>=0"}})
	if refused := s.Want(t, 503, "POST", "/api/v1/code-agents/late/packages/resolve", `{}`).Problem(t); refused.Code != "index_unavailable" {
		t.Errorf("a closed index: %+v", refused)
	}
	if run := s.Execute(t, "loud", "1.0.0", map[string]any{}); !run.Success {
		t.Errorf("an installed version: %+v", run.Error)
	}
}

// TestPackages_Inline runs inline code with packages. If no index is configured, the error must name the setting that
// helps.
func TestPackages_Inline(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, shouting())
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	inline := map[string]any{"language": "python", "code": "import shout\n\ndef main(name):\n    return shout.shout(name)\n", "input": map[string]any{"name": "ada"}, "packages": []string{"shout"}}
	var downloads []int64
	for range 2 {
		var run servertest.Run
		if err := json.Unmarshal(s.Want(t, 200, "POST", "/api/v1/execute", inline).Body, &run); err != nil || string(run.Output) != `"ADA"` {
			t.Fatalf("%v %+v", err, run)
		}
		downloads = append(downloads, index.Downloads.Load())
	}
	if downloads[0] != downloads[1] {
		t.Errorf("the second run downloaded again: %v", downloads)
	}
	plain := servertest.New(t)
	refused := plain.Want(t, 422, "POST", "/api/v1/execute", inline).Problem(t)
	if len(refused.Errors) != 1 || !strings.Contains(refused.Errors[0].Message, "--python-index") {
		t.Errorf("without an index: %+v", refused)
	}
}

// TestPackages_Blocked checks that the rules of the server apply to packages of a new draft, and of a version that was
// published before the rules existed.
func TestPackages_Blocked(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greetings("1.0.0"), shouting())
	data, dir := t.TempDir(), packagestest.Dir(t)
	s := servertest.On(t, data, withPackages(t, index, dir))
	s.Create(t, map[string]any{"name": "greeter", "language": "python", "code": greeter, "packages": []string{"greetings"}})
	s.Publish(t, "greeter", "1.0.0")
	s.Stop(t)
	s = servertest.On(t, data, servertest.Flags(t, map[string]string{
		"python-index": index.Simple(), "uv": packagestest.UV(t), "packages-dir": dir, "block-packages": "other=greetings,pypi:sh*@1.*",
	}))
	run := s.Execute(t, "greeter", "1.0.0", map[string]any{"name": "Ada"})
	if run.Error == nil || run.Error.Type != "denied" || !strings.Contains(run.Error.Message, "shout 1.0.0 must not be used") || run.Error.Remedy == "" {
		t.Errorf("a published version: %+v", run.Error)
	}
	s.Create(t, map[string]any{"name": "loud", "language": "python", "code": "def main():\n    return 1\n", "packages": []string{"shout"}})
	refused := s.Want(t, 422, "POST", "/api/v1/code-agents/loud/packages/resolve", `{}`).Problem(t)
	if len(refused.Errors) != 1 || refused.Errors[0].Pointer != "/packages/0" || refused.Errors[0].Code != "blocked" {
		t.Errorf("a draft: %+v", refused)
	}
}

// TestPackages_Files checks that the packages of a program may come from its files: requirements.txt with hashes,
// pyproject.toml, and package.json with its lock file, whose exact versions are used.
func TestPackages_Files(t *testing.T) {
	t.Parallel()
	index := packagestest.NewIndex(t, greetings("1.0.0"), shouting())
	for _, version := range []string{"1.0.0", "1.1.0"} {
		index.AddNPM(t, packagestest.Tarball{Name: "hello", Version: version, Files: map[string]string{"index.js": "module.exports = '" + version + "'"}})
	}
	s := servertest.New(t, withPackages(t, index, packagestest.Dir(t)))
	const want = `{"text":"HELLO ADA","version":"1.0.0"}`
	hashes := map[string]string{"greetings": greetings("1.0.0").Hash(t), "shout": shouting().Hash(t)}
	requirements := "# exact versions\ngreetings==1.0.0 \\\n    --hash=" + hashes["greetings"] + "\nshout==1.0.0 --hash=" + hashes["shout"] + "\n"
	for name, files := range map[string]map[string]string{
		"requirements": {"main.py": greeter, "requirements.txt": requirements},
		"pyproject":    {"main.py": greeter, "pyproject.toml": "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"greetings>=1\"]\n"},
	} {
		s.Create(t, map[string]any{"name": name, "language": "python", "files": files})
		if run := s.Execute(t, name, "draft", map[string]any{"name": "Ada"}); !run.Success || string(run.Output) != want {
			t.Fatalf("%s: %+v %s", name, run.Error, run.Output)
		}
		s.Publish(t, name, "1.0.0")
		if body := string(s.Want(t, 200, "GET", "/api/v1/code-agents/"+name+"/versions/1.0.0/sbom", nil).Body); !strings.Contains(body, "pkg:pypi/greetings@1.0.0") {
			t.Errorf("%s has the bill %s", name, body)
		}
	}
	hello := packagestest.Tarball{Name: "hello", Version: "1.0.0", Files: map[string]string{"index.js": "module.exports = '1.0.0'"}}
	lock := `{"lockfileVersion":3,"packages":{"":{"dependencies":{"hello":"^1"}},"node_modules/hello":{"version":"1.0.0","resolved":"http://192.0.2.1/x.tgz","integrity":"` + hello.Integrity(t) + `"}}}`
	files := map[string]string{"main.js": "import version from 'hello';\nexport default () => version;\n", "package.json": `{"dependencies":{"hello":"^1"}}`}
	s.Create(t, map[string]any{"name": "newest", "language": "javascript", "files": files})
	files["package-lock.json"] = lock
	s.Create(t, map[string]any{"name": "locked", "language": "javascript", "files": files})
	files["package-lock.json"] = strings.Replace(lock, `"^1"`, `"^2"`, 1)
	s.Create(t, map[string]any{"name": "stale", "language": "javascript", "files": files})
	files["package-lock.json"] = strings.Replace(lock, `"resolved":"http:`, `"resolved":"file:`, 1)
	s.Create(t, map[string]any{"name": "linked", "language": "javascript", "files": files})
	for name, version := range map[string]string{"newest": "1.1.0", "locked": "1.0.0"} {
		if run := s.Execute(t, name, "draft", map[string]any{}); string(run.Output) != `"`+version+`"` {
			t.Errorf("%s: %+v %s", name, run.Error, run.Output)
		}
	}
	for name, message := range map[string]string{"stale": "does not fit package.json", "linked": "an address or a link"} {
		refused := s.Want(t, 422, "POST", "/api/v1/code-agents/"+name+"/packages/resolve", `{}`).Problem(t)
		if !strings.Contains(refused.Detail, message) || refused.Remedy == "" || len(refused.Errors) != 1 || refused.Errors[0].File != "package.json" {
			t.Errorf("%s: %+v", name, refused)
		}
	}
	bad := map[string]string{"main.py": greeter, "requirements.txt": strings.Replace(requirements, hashes["shout"], "sha256:"+strings.Repeat("0", 64), 1)}
	s.Create(t, map[string]any{"name": "tampered", "language": "python", "files": bad})
	if run := s.Execute(t, "tampered", "draft", map[string]any{"name": "Ada"}); run.Error == nil || !strings.Contains(run.Error.Message, "shout 1.0.0 has an archive whose hash is not in requirements.txt") {
		t.Errorf("another hash: %+v", run.Error)
	}
	bad["requirements.txt"] = "greetings\n-r /etc/passwd\n"
	refused := s.Want(t, 422, "POST", "/api/v1/code-agents", map[string]any{"name": "option", "language": "python", "files": bad}).Problem(t)
	if len(refused.Errors) != 1 || refused.Errors[0].File != "requirements.txt" || refused.Errors[0].Line != 2 {
		t.Errorf("an option: %+v", refused)
	}
}
