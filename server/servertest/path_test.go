package servertest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// sample is an example agent of the server.
type sample struct {
	Name  string
	Input json.RawMessage
	Agent json.RawMessage
}

func samples(t *testing.T, c *servertest.Client) map[string]sample {
	t.Helper()
	var list struct{ Items []sample }
	c.Want(t, 200, "GET", "/api/v1/samples", nil).Into(t, &list)
	all := map[string]sample{}
	for _, s := range list.Items {
		all[s.Name] = s
	}
	return all
}

// A new user creates an agent over HTTP, runs the draft, publishes it, runs the version and exports it as a tool.
func TestFromSampleToTool(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	offered := samples(t, s.Client)
	if len(offered) != 6 {
		t.Fatalf("%d samples", len(offered))
	}
	for name, sample := range offered {
		t.Run(name, func(t *testing.T) {
			var agent struct {
				Name  string
				Draft struct {
					Revision int
					Language string
				}
				LatestVersion string
			}
			created := s.Want(t, 201, "POST", "/api/v1/code-agents", string(sample.Agent))
			created.Into(t, &agent)
			if created.Header.Get("ETag") != `"1"` || agent.Draft.Revision != 1 {
				t.Errorf("ETag is %s, revision %d", created.Header.Get("ETag"), agent.Draft.Revision)
			}
			draft := s.Execute(t, agent.Name, "draft", sample.Input)
			if !draft.Success || draft.Status != "succeeded" || draft.Validation.Output != "passed" {
				t.Fatalf("the draft ended as %+v", draft)
			}

			s.Publish(t, agent.Name, "1.0.0")
			run := s.Execute(t, agent.Name, "1.0.0", sample.Input)
			if !run.Success || string(run.Output) != string(draft.Output) {
				t.Fatalf("the version ended as %+v", run)
			}
			p := run.Provenance
			if p.Version != "1.0.0" || !strings.HasPrefix(p.Digest, "sha256:") || p.InputsHash != draft.Provenance.InputsHash ||
				p.OutputsHash != draft.Provenance.OutputsHash || p.CodeDigest != draft.Provenance.CodeDigest || p.Isolation == "" {
				t.Errorf("provenance is %+v, of the draft %+v", p, draft.Provenance)
			}
			for _, version := range []string{"^1", "latest", p.Digest} {
				if again := s.Execute(t, agent.Name, version, sample.Input); again.Provenance.Version != "1.0.0" || !again.Success {
					t.Errorf("%s ended as %+v", version, again)
				}
			}
			if stored := s.Get(t, run.RunID); string(stored.Output) != string(run.Output) || stored.Status != run.Status || stored.Trigger != "api" {
				t.Errorf("stored is %+v", stored)
			}

			var atelier struct {
				Reference, Digest string
				Handler           struct{ URL, Version string }
			}
			s.Want(t, 200, "POST", "/api/v1/code-agents/"+agent.Name+"/export-tool", `{"version":"^1"}`).Into(t, &atelier)
			if atelier.Reference != agent.Name+"@1.0.0" || atelier.Digest != p.Digest || atelier.Handler.Version != "1.0.0" ||
				atelier.Handler.URL != s.URL+"/api/v1/code-agents/"+agent.Name+"/execute" {
				t.Errorf("manifest is %+v", atelier)
			}
			var openai struct {
				Type     string
				Function struct {
					Name       string
					Parameters struct{ Type string }
				}
			}
			s.Want(t, 200, "POST", "/api/v1/code-agents/"+agent.Name+"/export-tool", `{"format":"openai"}`).Into(t, &openai)
			if openai.Type != "function" || openai.Function.Name != agent.Name || openai.Function.Parameters.Type != "object" {
				t.Errorf("tool is %+v", openai)
			}
			s.Want(t, 200, "GET", "/api/v1/code-agents/"+agent.Name+"/versions/latest/manifest?format=langchain", nil)
		})
	}
}

// An exported manifest must contain everything that is needed to call the tool.
func TestToolCalledAsItsManifestSays(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "double", "language": "javascript", "code": "export default ({n}) => ({n: 2 * n})"})
	var tool struct{ Handler struct{ URL, Version string } }
	s.Want(t, 200, "POST", "/api/v1/code-agents/double/export-tool", `{"publish":true}`).Into(t, &tool)
	path := strings.TrimPrefix(tool.Handler.URL, s.URL)
	run := s.Want(t, 200, "POST", path, map[string]any{"version": tool.Handler.Version, "input": map[string]int{"n": 21}}).Run(t)
	if string(run.Output) != `{"n":42}` || run.Provenance.Version != "1.0.0" {
		t.Errorf("got %+v", run)
	}
}

func TestDraftIsSavedByWhoSawItsRevision(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const agent = "/api/v1/code-agents/echo"
	s.Create(t, map[string]any{"name": "echo", "language": "javascript", "code": "export default (input) => input"})
	saved := s.Want(t, 200, "PUT", agent, `{"title":"Echo","code":"export default (input) => [input]"}`, servertest.Headers{"If-Match": `"1"`})
	if saved.Header.Get("ETag") != `"2"` {
		t.Errorf("ETag is %s", saved.Header.Get("ETag"))
	}
	stale := s.Want(t, 409, "PUT", agent, `{"title":"Mine"}`, servertest.Headers{"If-Match": `"1"`}).Problem(t)
	if stale.Code != "stale_draft" || stale.CurrentRevision != 2 {
		t.Errorf("got %+v", stale)
	}
	if got := s.Execute(t, "echo", "draft", map[string]int{"a": 1}); string(got.Output) != `[{"a":1}]` {
		t.Errorf("got %s", got.Output)
	}
	s.Want(t, 200, "PATCH", agent, `{"name":"mirror","tags":["a"]}`)
	s.Want(t, 404, "GET", agent, nil)
	s.Want(t, 200, "GET", "/api/v1/code-agents/mirror", nil)
	s.Want(t, 204, "DELETE", "/api/v1/code-agents/mirror", nil)
	s.Want(t, 404, "GET", "/api/v1/code-agents/mirror", nil)
}

func TestVersionsNeverChange(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const agent = "/api/v1/code-agents/number"
	s.Create(t, map[string]any{"name": "number", "language": "javascript", "code": "export default () => 1"})
	s.Publish(t, "number", "1.0.0")
	s.Want(t, 200, "PUT", agent, `{"code":"export default () => 2"}`, servertest.Headers{"If-Match": `"1"`})
	if p := s.Want(t, 409, "POST", agent+"/versions", `{"version":"1.0.0"}`).Problem(t); p.Code != "version_exists" {
		t.Errorf("got %+v", p)
	}
	s.Want(t, 201, "POST", agent+"/versions", `{"bump":"minor","changelog":"two"}`)
	for version, want := range map[string]string{"1.0.0": "1", "1.1.0": "2", "latest": "2", "^1": "2", "~1.0": "1", "draft": "2"} {
		if got := s.Execute(t, "number", version, map[string]any{}); string(got.Output) != want {
			t.Errorf("%s is %s", version, got.Output)
		}
	}
	s.Want(t, 200, "PATCH", agent+"/versions/1.1.0", `{"deprecated":true,"reason":"wrong"}`)
	if got := s.Execute(t, "number", "latest", map[string]any{}); string(got.Output) != "1" {
		t.Errorf("latest is %s after 1.1.0 was deprecated", got.Output)
	}
	var list struct {
		Items []struct {
			Version    string
			Deprecated bool
		}
	}
	s.Want(t, 200, "GET", agent+"/versions", nil).Into(t, &list)
	if len(list.Items) != 2 || list.Items[0].Version != "1.1.0" || !list.Items[0].Deprecated {
		t.Errorf("got %+v", list)
	}
	var resolved struct {
		Items []struct {
			Pinned string
			Error  *struct{ Code string }
		}
	}
	s.Want(t, 200, "POST", "/api/v1/references/resolve", `{"references":["number@^1","number@9.9.9","nobody@latest","number"]}`).Into(t, &resolved)
	if len(resolved.Items) != 4 || resolved.Items[0].Pinned != "number@1.0.0" || resolved.Items[1].Error.Code != "not_found" ||
		resolved.Items[2].Error.Code != "not_found" || resolved.Items[3].Error.Code != "version_required" {
		t.Errorf("got %+v", resolved)
	}
}

// A failing program is a normal answer, not a server error.
func TestFailingProgramIsAnAnswer(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	programs := map[string]struct{ language, code, file string }{
		"TypeScript": {"typescript", "interface Boom { a: number }\nexport default function main(input: Boom) {\n  throw new Error('boom')\n}\n", "main.ts"},
		"JavaScript": {"javascript", "\n\nexport default () => {\n throw new Error('boom')\n}\n", "main.js"},
		"Python":     {"python", "def main(input):\n    x = 1\n    raise ValueError('boom')\n", "main.py"},
	}
	lines := map[string]int{"TypeScript": 3, "JavaScript": 4, "Python": 3}
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			run := s.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": p.language, "code": p.code}).Run(t)
			if run.Success || run.Status != "failed" || run.Error == nil || run.Error.Type != "runtime_error" ||
				!strings.Contains(run.Error.Message, "boom") || run.Error.File != p.file || run.Error.Line != lines[name] {
				t.Errorf("got %+v, %+v", run, run.Error)
			}
		})
	}
	t.Run("Bash", func(t *testing.T) {
		run := s.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": "bash", "code": "echo before\nexit 3\n"}).Run(t)
		if run.Success || run.Stdout != "before\n" || run.Error == nil {
			t.Errorf("got %+v", run)
		}
	})
}
