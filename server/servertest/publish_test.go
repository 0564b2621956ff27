package servertest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/servertest"
)

// weather creates an agent with two input properties and publishes it as 1.0.0.
func weather(t *testing.T, s *servertest.Server) {
	t.Helper()
	s.Create(t, map[string]any{
		"name": "weather", "language": "python", "code": "def main(city, days=1): return {'text': city}\n",
		"inputSchema": schemaOf("city", "string", "days", "integer"), "outputSchema": schemaOf("text", "string"),
	})
	s.Publish(t, "weather", "1.0.0")
}

func schemaOf(pairs ...string) map[string]any {
	properties := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		properties[pairs[i]] = map[string]any{"type": pairs[i+1]}
	}
	return map[string]any{"type": "object", "properties": properties}
}

func save(t *testing.T, s *servertest.Server, revision string, change map[string]any) {
	t.Helper()
	s.Want(t, 200, "PUT", "/api/v1/code-agents/weather", change, servertest.Headers{"If-Match": `"` + revision + `"`})
}

// Removing a property is a major change. A patch version must be rejected with the reason and the advised version, and
// auto must choose a major version.
func TestPublishGivesTheNumberThatTheChangeAsksFor(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	save(t, s, "1", map[string]any{"inputSchema": schemaOf("city", "string")})

	const versions = "/api/v1/code-agents/weather/versions"
	for _, body := range []map[string]any{{"bump": "patch"}, {"bump": "minor"}, {"version": "1.0.1"}, {"version": "1.9.0-rc.1"}} {
		refused := s.Want(t, 422, "POST", versions, body)
		var problem struct {
			Code, AdvisedVersion, AdvisedBump string
			Errors                            []struct{ Pointer, Message string }
		}
		refused.Into(t, &problem)
		if problem.Code != "bump_too_small" || problem.AdvisedVersion != "2.0.0" || problem.AdvisedBump != "major" || len(problem.Errors) != 1 ||
			problem.Errors[0].Pointer != "/inputSchema/properties/days" || problem.Errors[0].Message != "`days` was removed from the input" {
			t.Errorf("%v: %s", body, refused.Body)
		}
	}
	if p := s.Want(t, 422, "POST", versions, map[string]any{"bump": "patch", "force": true}).Problem(t); p.Errors[0].Pointer != "/comment" {
		t.Errorf("force without a comment: %+v", p)
	}

	var diff struct {
		From, To string
		Settings []struct{ Name string }
		Advice   struct {
			Bump, Version string
			Reasons       []struct{ Message string }
		}
	}
	s.Want(t, 200, "GET", "/api/v1/code-agents/weather/diff", nil).Into(t, &diff)
	if diff.From != "1.0.0" || diff.To != "draft" || diff.Advice.Bump != "major" || diff.Advice.Version != "2.0.0" {
		t.Errorf("diff %+v", diff)
	}

	var published struct{ Version string }
	s.Want(t, 201, "POST", versions, map[string]any{"bump": "auto"}).Into(t, &published)
	if published.Version != "2.0.0" {
		t.Errorf("auto made %s", published.Version)
	}

	save(t, s, "2", map[string]any{"inputSchema": schemaOf("city", "string", "units", "string")})
	s.Want(t, 201, "POST", versions, map[string]any{}).Into(t, &published)
	if published.Version != "2.1.0" {
		t.Errorf("a new optional property made %s", published.Version)
	}
	save(t, s, "3", map[string]any{"code": "def main(city): return {'text': city + '!'}\n"})
	s.Want(t, 201, "POST", versions, map[string]any{"bump": "auto"}).Into(t, &published)
	if published.Version != "2.1.1" {
		t.Errorf("new code made %s", published.Version)
	}
}

// The reason for a smaller number must be stored with the version, so that readers of the version see it.
func TestForcedNumberIsRecorded(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	save(t, s, "1", map[string]any{"inputSchema": schemaOf("city", "string")})
	const versions = "/api/v1/code-agents/weather/versions"
	s.Want(t, 201, "POST", versions, map[string]any{"bump": "patch", "force": true, "comment": "Nobody used it."})
	var v struct {
		Version  string
		Override struct {
			Comment string
			Advice  struct {
				Base, Bump, Version string
				Reasons             []struct{ Message string }
			}
		}
	}
	s.Want(t, 200, "GET", versions+"/1.0.1", nil).Into(t, &v)
	if v.Override.Comment != "Nobody used it." || v.Override.Advice.Version != "2.0.0" || v.Override.Advice.Base != "1.0.0" || len(v.Override.Advice.Reasons) != 1 {
		t.Errorf("recorded %+v", v)
	}
	answer := s.Want(t, 200, "GET", versions+"/1.0.0", nil)
	if strings.Contains(string(answer.Body), `"override"`) {
		t.Error("1.0.0 has an override")
	}

	// The reason must be visible only in its own workspace.
	s.Want(t, 200, "POST", "/api/v1/code-agents/weather/publish", map[string]any{"public": true})
	answer = s.Want(t, 200, "GET", "/api/v1/code-agents/registry/default/weather/versions/1.0.1", nil)
	if strings.Contains(string(answer.Body), `"override"`) {
		t.Errorf("the registry tells %s", answer.Body)
	}
}

// A different file is shown as unified diff in both directions.
func TestDiffOfVersions(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	save(t, s, "1", map[string]any{"code": "def main(city): return {'text': 'x'}\n", "limits": map[string]any{"timeoutMs": 5000}})
	s.Publish(t, "weather", "1.0.1")
	var diff struct {
		Files    []struct{ Path, Status, Unified string }
		Settings []struct{ Name, Group string }
	}
	s.Want(t, 200, "GET", "/api/v1/code-agents/weather/versions/1.0.0/diff/1.0.1", nil).Into(t, &diff)
	if len(diff.Files) != 1 || diff.Files[0].Status != "changed" || !strings.Contains(diff.Files[0].Unified, "+def main(city): return {'text': 'x'}") {
		t.Errorf("files %+v", diff.Files)
	}
	if !slices.ContainsFunc(diff.Settings, func(s struct{ Name, Group string }) bool { return s.Name == "limits.timeoutMs" && s.Group == "limits" }) {
		t.Errorf("settings %+v", diff.Settings)
	}
	s.Want(t, 404, "GET", "/api/v1/code-agents/weather/versions/1.0.0/diff/3.0.0", nil)
}

// Publishing a draft without changes must be refused with the existing version, or must return that version if the
// client asks for it. A missing or poor description only gives a warning, which exists because models read the
// description.
func TestPublish_PoorDescription_Warns(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "mute", "language": "javascript", "code": "export default () => 1"})
	var made struct{ Warnings []fault.Detail }
	s.Want(t, 201, "POST", "/api/v1/code-agents/mute/versions", `{"version":"1.0.0"}`).Into(t, &made)
	if len(made.Warnings) != 1 || made.Warnings[0].Pointer != "/description" || !strings.HasPrefix(made.Warnings[0].Message, "is missing.") {
		t.Errorf("without a description: %+v", made.Warnings)
	}
	s.Want(t, 200, "PATCH", "/api/v1/code-agents/mute", map[string]any{"description": "Mute."})
	s.Want(t, 200, "PUT", "/api/v1/code-agents/mute", map[string]any{"code": "export default () => 2"}, servertest.Headers{"If-Match": "*"})
	if code, stdout, stderr := command(t, s, "", "publish", "mute"); code != 0 || stdout != "mute@1.0.1\n" || !strings.Contains(stderr, "warning: description only repeats the name.") {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	for _, field := range []string{"name", "title", "description"} {
		p := s.Want(t, 422, "POST", "/api/v1/validate", map[string]any{"language": "javascript", field: "a\u0001b"}).Problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Pointer != "/"+field {
			t.Errorf("a control character in %s: %+v", field, p)
		}
	}
	for description, want := range map[string]int{"": 1, "Short.": 1, "Returns the number that follows the input.": 0} {
		made.Warnings = nil
		s.Want(t, 200, "POST", "/api/v1/validate", map[string]any{"name": "mute", "description": description}).Into(t, &made)
		if len(made.Warnings) != want {
			t.Errorf("%q: %+v", description, made.Warnings)
		}
	}
}

// A publication that waits for an approval has the same warning.
func TestPublish_PoorDescriptionAwaitsApproval_Warns(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	setGate(t, s.Client, map[string]any{"gate": "enforce"})
	s.Create(t, map[string]any{"name": "mute", "language": "javascript", "code": "export default () => 1", "safetyFlags": []string{"network_access"}, "capabilities": map[string]any{"hosts": []string{"example.com:443"}}})
	var waiting struct {
		ApprovalID string
		Warnings   []fault.Detail
	}
	s.Want(t, 202, "POST", "/api/v1/code-agents/mute/versions", `{"version":"1.0.0"}`).Into(t, &waiting)
	if waiting.ApprovalID == "" || len(waiting.Warnings) != 1 || waiting.Warnings[0].Pointer != "/description" {
		t.Errorf("without a description: %+v", waiting)
	}
	if _, _, stderr := command(t, s, "", "publish", "mute"); !strings.Contains(stderr, "warning: description is missing.") {
		t.Errorf("the command says %q", stderr)
	}
}

func TestPublish_Unchanged_NamesTheExistingVersion(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	const versions = "/api/v1/code-agents/weather/versions"
	for name, body := range map[string]map[string]any{"auto": {}, "a number": {"version": "1.4.0"}, "a lower number": {"version": "0.9.0"}, "a pre-release": {"version": "2.0.0-rc.1"}, "a changelog": {"changelog": "New."}} {
		var refused struct{ Code, Version, Detail string }
		s.Want(t, 409, "POST", versions, body).Into(t, &refused)
		if refused.Code != "version_exists" || refused.Version != "1.0.0" || !strings.Contains(refused.Detail, "no changes since weather@1.0.0") {
			t.Errorf("%s: %+v", name, refused)
		}
	}
	var made struct {
		Version, Digest string
		Existing        bool
	}
	answer := s.Want(t, 200, "POST", versions, map[string]any{"ifChanged": true})
	if answer.Into(t, &made); made.Version != "1.0.0" || !made.Existing || !strings.HasSuffix(answer.Header.Get("Location"), "/versions/1.0.0") {
		t.Errorf("%+v %s", made, answer.Header)
	}
	code, stdout, stderr := command(t, s, "", "publish", "weather", "--if-changed")
	if code != 0 || stdout != "weather@1.0.0\n" || !strings.Contains(stderr, "no changes since weather@1.0.0") {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	if code, _, stderr = command(t, s, "", "publish", "weather"); code != 3 || !strings.Contains(stderr, "no changes since weather@1.0.0") || !strings.Contains(stderr, "With --if-changed ") || strings.Contains(stderr, "ifChanged") {
		t.Errorf("%d %q", code, stderr)
	}

	// A pre-release may become stable, and the content of an older version may be published again.
	original := "def main(city, days=1): return {'text': city}\n"
	save(t, s, "1", map[string]any{"code": "def main(city, days=1): return {'text': 'x'}\n"})
	for _, version := range []string{"1.1.0-rc.1", "1.1.0"} {
		s.Want(t, 201, "POST", versions, map[string]any{"version": version})
	}
	save(t, s, "2", map[string]any{"code": original})
	s.Want(t, 201, "POST", versions, map[string]any{"ifChanged": true}).Into(t, &made)
	if made.Version != "1.1.1" {
		t.Errorf("restoring old content published %+v", made)
	}
}
