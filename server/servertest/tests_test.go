package servertest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

const (
	tripled  = "/api/v1/code-agents/triple"
	triple   = `export default ({n}) => { if (n === 13) throw new Error("thirteen"); return {value: n * 3, at: Date.now(), parts: [{id: Math.random(), n}]}; }`
	noParts  = `export default ({n}) => { if (n === 13) throw new Error("thirteen"); return {value: n * 3, at: Date.now()}; }`
	wrongSum = `export default ({n}) => ({value: n * 4, at: Date.now(), parts: [{id: Math.random(), n}]})`
)

// tripleTests returns the tests of the agent triple. The last one fails unless the value is 9.
func tripleTests() []any {
	return []any{
		map[string]any{"name": "two", "input": map[string]any{"n": 2}, "expect": map[string]any{"output": map[string]any{"value": 6.0, "at": 0, "parts": []any{map[string]any{"id": 1, "n": 2}}}}, "ignore": []string{"/at", "/parts/*/id"}},
		map[string]any{"name": "thirteen", "input": map[string]any{"n": 13}, "expect": map[string]any{"errorType": "runtime_error"}, "tags": []string{"slow"}},
		map[string]any{"name": "text", "input": map[string]any{"n": "x"}, "expect": map[string]any{"errorType": "invalid_input"}, "source": "generated"},
		map[string]any{"name": "any", "input": map[string]any{"n": 5}, "expect": map[string]any{"schema": true}},
		map[string]any{"name": "three", "input": map[string]any{"n": 3}, "expect": map[string]any{"matches": map[string]any{"properties": map[string]any{"value": map[string]any{"const": 9}}}}, "source": "recorded"},
	}
}

// tripling returns a server with the agent triple, whose draft contains the tests.
func tripling(t *testing.T) *servertest.Server {
	t.Helper()
	s := servertest.New(t)
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{
		"name": "triple", "language": "javascript", "code": triple, "tests": tripleTests(),
		"inputSchema":  map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}},
		"outputSchema": map[string]any{"type": "object", "required": []string{"value"}},
	})
	return s
}

type testReport struct {
	Version        string
	DraftRevision  int64
	Passed, Failed int
	Results        []struct {
		Name, Message, ErrorType, RunID string
		Passed                          bool
		Differences                     []struct{ Pointer, Message string }
	}
}

// TestRunTests runs tests of a draft and of a version, as one answer and as events.
func TestRunTests(t *testing.T) {
	t.Parallel()
	s := tripling(t)
	var all testReport
	s.Want(t, http.StatusOK, http.MethodPost, tripled+"/tests/run", map[string]any{}).Into(t, &all)
	if all.Passed != 5 || all.Failed != 0 || all.Version != "draft" || all.DraftRevision != 1 || len(all.Results) != 5 {
		t.Fatalf("%+v", all)
	}
	s.Publish(t, "triple", "1.0.0")
	s.Want(t, http.StatusOK, http.MethodPut, tripled, map[string]any{"code": wrongSum}, servertest.Headers{"If-Match": `"1"`})
	s.Want(t, http.StatusOK, http.MethodPost, tripled+"/tests/run", map[string]any{"names": []string{"two", "thirteen"}}).Into(t, &all)
	if all.Passed != 0 || all.Failed != 2 {
		t.Fatalf("%+v", all)
	}
	for _, one := range all.Results {
		if one.Name == "two" && (len(one.Differences) != 1 || one.Differences[0].Pointer != "/value" || one.Differences[0].Message != "is 8 instead of 6." || s.Get(t, one.RunID).Status != "succeeded") {
			t.Errorf("%+v", one)
		}
		if one.Name == "thirteen" && !strings.Contains(one.Message, "succeeded instead of") {
			t.Errorf("%+v", one)
		}
	}
	var ofVersion testReport
	s.Want(t, http.StatusOK, http.MethodPost, tripled+"/tests/run", map[string]any{"version": "^1"}).Into(t, &ofVersion)
	if ofVersion.Passed != 5 || ofVersion.Version != "1.0.0" {
		t.Errorf("%+v", ofVersion)
	}
	text := string(s.Want(t, http.StatusOK, http.MethodPost, tripled+"/tests/run", map[string]any{"revision": 2}, servertest.Headers{"Accept": "text/event-stream"}).Body)
	if strings.Count(text, "event: result\ndata: {") != 5 || !strings.Contains(text, "event: report\ndata: {") || !strings.Contains(text, `"failed":3`) {
		t.Error(text)
	}
	for name, tt := range map[string]struct {
		status int
		body   map[string]any
		want   string
	}{
		"another revision": {http.StatusConflict, map[string]any{"revision": 1}, "stale_draft"},
		"an unknown name":  {http.StatusUnprocessableEntity, map[string]any{"names": []string{"four"}}, `"/names/0"`},
		"an unknown field": {http.StatusUnprocessableEntity, map[string]any{"nmaes": []string{}}, "nmaes"},
		"a bad test":       {http.StatusUnprocessableEntity, map[string]any{"tests": []any{map[string]any{"name": "x", "input": 1, "expect": map[string]any{}}}}, `"/tests/0/expect"`},
		"no version":       {http.StatusNotFound, map[string]any{"version": "7.0.0"}, "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			if refused := s.Want(t, tt.status, http.MethodPost, tripled+"/tests/run", tt.body); !strings.Contains(string(refused.Body), tt.want) {
				t.Errorf("%s, want %s", refused.Body, tt.want)
			}
		})
	}
}

// TestSaveTests_Invalid_Refused checks that each invalid test is reported by its pointer, and that the draft does not change.
func TestSaveTests_Invalid_Refused(t *testing.T) {
	t.Parallel()
	s := tripling(t)
	one := func(changes map[string]any) map[string]any {
		test := map[string]any{"name": "a", "input": map[string]any{}, "expect": map[string]any{"schema": true}}
		for field, value := range changes {
			test[field] = value
		}
		return map[string]any{"tests": []any{test}}
	}
	for pointer, body := range map[string]map[string]any{
		"/tests/0/name":                one(map[string]any{"name": " a"}),
		"/tests/0/expect":              one(map[string]any{"expect": map[string]any{"schema": true, "errorType": "timeout"}}),
		"/tests/0/expect/errorType":    one(map[string]any{"expect": map[string]any{"errorType": "cancelled"}}),
		"/tests/0/expect/matches/type": one(map[string]any{"expect": map[string]any{"matches": map[string]any{"type": "text"}}}),
		"/tests/0/ignore/0":            one(map[string]any{"ignore": []string{"at"}}),
		"/tests/0/source":              one(map[string]any{"source": "me"}),
		"/tests/1/name":                {"tests": []any{one(nil)["tests"].([]any)[0], one(nil)["tests"].([]any)[0]}},
		"/tests/0/expcet":              one(map[string]any{"expcet": 1}),
	} {
		problem := s.Want(t, http.StatusUnprocessableEntity, http.MethodPut, tripled, body, servertest.Headers{"If-Match": `"1"`})
		if !strings.Contains(string(problem.Body), `"`+pointer+`"`) && !strings.Contains(string(problem.Body), "expcet") {
			t.Errorf("%s: %s", pointer, problem.Body)
		}
	}
	var report testReport
	s.Want(t, http.StatusOK, http.MethodPost, tripled+"/tests/run", map[string]any{"revision": 1}).Into(t, &report)
	if report.Passed != 5 {
		t.Errorf("%+v", report)
	}
}

// TestPublish_TestsFail_Refused checks that a minor version that breaks the tests of its predecessor is refused, and
// that the error lists the callers. If the author accepts the regression, the version becomes a major version.
func TestPublish_TestsFail_Refused(t *testing.T) {
	t.Parallel()
	s := tripling(t)
	s.Publish(t, "triple", "1.0.0")
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/pins", map[string]any{"owner": "workflow:42", "label": "Morning mail", "references": []string{"triple@^1"}})
	// The author removes the property, and also the test that would fail because of this.
	s.Want(t, http.StatusOK, http.MethodPut, tripled, map[string]any{"code": noParts, "tests": tripleTests()[1:]}, servertest.Headers{"If-Match": `"1"`})
	refused := s.Want(t, http.StatusConflict, http.MethodPost, tripled+"/versions", map[string]any{"bump": "auto"})
	for _, want := range []string{"tests_failed", `The test \"two\" of 1.0.0 fails`, "/parts is missing", "Morning mail", "acceptRegressions"} {
		if !strings.Contains(string(refused.Body), want) {
			t.Errorf("%s lacks %s", refused.Body, want)
		}
	}
	code, _, stderr := command(t, s, "", "publish", "triple")
	for _, want := range []string{`The test "two" of 1.0.0 fails`, "triple@1.0.0 is pinned by", "Morning mail"} {
		if code != 3 || !strings.Contains(stderr, want) {
			t.Errorf("%d %s lacks %s", code, stderr, want)
		}
	}
	s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, tripled+"/versions", map[string]any{"acceptRegressions": true})
	small := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, tripled+"/versions", map[string]any{"version": "1.1.0", "acceptRegressions": true, "comment": "Nobody reads parts."})
	if !strings.Contains(string(small.Body), "bump_too_small") || !strings.Contains(string(small.Body), `"advisedVersion":"2.0.0"`) {
		t.Errorf("%s", small.Body)
	}
	out := must(t, s, "publish", "triple", "--accept-regressions", "--comment", "Nobody reads parts.")
	if !strings.Contains(out, "triple@2.0.0") {
		t.Errorf("%s", out)
	}
	var v struct {
		Regressions struct {
			Comment string
			Failed  []struct{ Test, Version, Message string }
		}
		Tests []struct{ Name string }
	}
	s.Want(t, http.StatusOK, http.MethodGet, tripled+"/versions/2.0.0", nil).Into(t, &v)
	if v.Regressions.Comment != "Nobody reads parts." || len(v.Regressions.Failed) != 1 || v.Regressions.Failed[0].Test != "two" || v.Regressions.Failed[0].Version != "1.0.0" || len(v.Tests) != 4 {
		t.Errorf("%+v", v)
	}
	// A failing test of the draft itself blocks publishing too. For a major version, the tests of the previous version do
	// not run.
	s.Want(t, http.StatusOK, http.MethodPut, tripled, map[string]any{"code": wrongSum}, servertest.Headers{"If-Match": `"2"`})
	if text := string(s.Want(t, http.StatusConflict, http.MethodPost, tripled+"/versions", map[string]any{"bump": "major"}).Body); !strings.Contains(text, `\"three\"`) {
		t.Error(text)
	}
	s.Want(t, http.StatusOK, http.MethodPut, tripled, map[string]any{"tests": []any{}}, servertest.Headers{"If-Match": `"3"`})
	s.Want(t, http.StatusConflict, http.MethodPost, tripled+"/versions", map[string]any{"bump": "minor"})
	s.Want(t, http.StatusCreated, http.MethodPost, tripled+"/versions", map[string]any{"bump": "major"})
}

// TestTestCommand tests the command with folders without a server, with references, with pull and push, and with an
// archive.
func TestTestCommand(t *testing.T) {
	t.Parallel()
	s := tripling(t)
	s.Publish(t, "triple", "1.0.0")
	dir, junit := filepath.Join(t.TempDir(), "triple"), filepath.Join(t.TempDir(), "out.xml")
	must(t, s, "pull", "triple", dir, "--yes")
	if said := servertest.Command(t, "", "test", dir, "--junit", junit); said.Code != 0 || strings.Count(said.Stdout, "ok  ") != 5 {
		t.Errorf("%+v", said)
	}
	if out := must(t, s, "test", "triple@1.0.0", "--only", "two"); strings.Count(out, "ok  ") != 1 {
		t.Error(out)
	}
	write(t, filepath.Join(dir, "main.js"), wrongSum)
	said := servertest.Command(t, "", "test", dir, "--junit", junit)
	if said.Code != 1 || !strings.Contains(said.Stdout, "/value is 8 instead of 6.") || !strings.Contains(said.Stderr, "3 of 5 tests failed") {
		t.Errorf("%+v", said)
	}
	if text, err := os.ReadFile(junit); err != nil || !strings.Contains(string(text), `failures="3"`) || !strings.Contains(string(text), "<failure") {
		t.Errorf("%v %s", err, text)
	}
	text, err := os.ReadFile(filepath.Join(dir, "tests.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "tests.yaml"), strings.Replace(string(text), "- name: any", "- naem: any", 1))
	if said := servertest.Command(t, "", "test", dir); said.Code != 3 || !strings.Contains(said.Stderr, "tests.yaml:") || !strings.Contains(said.Stderr, "naem") {
		t.Errorf("%+v", said)
	}
	write(t, filepath.Join(dir, "tests.yaml"), "- name: only\n  input: {n: 2}\n  expect: {schema: true}\n")
	must(t, s, "push", dir, "--yes")
	if out := must(t, s, "test", "triple"); strings.Count(out, "ok  ") != 1 {
		t.Error(out)
	}
	file := filepath.Join(t.TempDir(), "all.tar.gz")
	must(t, s, "archive", "export", file)
	other := servertest.New(t)
	must(t, other, "archive", "import", file)
	if out := must(t, other, "test", "triple") + must(t, other, "test", "triple@1.0.0"); strings.Count(out, "ok  ") != 6 {
		t.Error(out)
	}
	if err := os.Remove(filepath.Join(dir, "tests.yaml")); err != nil {
		t.Fatal(err)
	}
	if said := servertest.Command(t, "", "test", dir); said.Code != 1 || !strings.Contains(said.Stderr, "no tests") {
		t.Errorf("%+v", said)
	}
}

// TestGenerateTests checks that generated tests find an input for which a program fails, and make the input smaller.
// The same seed must give the same inputs.
func TestGenerateTests(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const agent = "/api/v1/code-agents/letters"
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{
		"name": "letters", "language": "javascript", "code": `export default ({word, note}) => { if (word.length > 40) throw new Error("long"); return word; }`,
		"inputSchema": map[string]any{"type": "object", "required": []string{"word"}, "additionalProperties": false, "properties": map[string]any{
			"word": map[string]any{"type": "string", "maxLength": 100}, "note": map[string]any{"type": "string"}, "n": map[string]any{"type": "integer", "minimum": 1}}},
	})
	type generation struct {
		Seed           uint64
		Passed, Failed int
		Cases          []struct {
			Kind   string
			Test   struct{ Input map[string]any }
			Result struct {
				Passed    bool
				ErrorType string
			}
		}
	}
	var first, second generation
	s.Want(t, http.StatusOK, http.MethodPost, agent+"/tests/generate", map[string]any{"count": 60, "seed": 7}).Into(t, &first)
	s.Want(t, http.StatusOK, http.MethodPost, agent+"/tests/generate", map[string]any{"count": 60, "seed": 7}).Into(t, &second)
	if !reflect.DeepEqual(first, second) || first.Seed != 7 || first.Failed == 0 || first.Passed < 20 {
		t.Fatalf("%+v\n%+v", first, second)
	}
	kinds := map[string]int{}
	for _, one := range first.Cases {
		kinds[one.Kind]++
		if word, _ := one.Test.Input["word"].(string); !one.Result.Passed && (one.Kind != "edge" || one.Result.ErrorType != "runtime_error" || len(one.Test.Input) != 1 || len(word) <= 40) {
			t.Errorf("%+v", one)
		}
	}
	if kinds["valid"] < 5 || kinds["edge"] < 5 || kinds["invalid"] < 5 {
		t.Errorf("%v", kinds)
	}
	s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, agent+"/tests/generate", map[string]any{"count": 101})

	// If only the program's own schema rejects an input, this counts as a declared error.
	s.Create(t, map[string]any{
		"name": "odd", "language": "javascript", "code": `export const input = {"~standard": {version: 1, vendor: "mine", validate: (value) => (value.n % 2 ? {value} : {issues: [{message: "must be odd", path: ["n"]}]})}}; export default ({n}) => n;`,
		"inputSchema": map[string]any{"type": "object", "required": []string{"n"}, "additionalProperties": false, "properties": map[string]any{"n": map[string]any{"type": "integer", "minimum": 1, "maximum": 50}}},
	})
	var declared struct {
		Failed int
		Cases  []struct {
			Kind string
			Test struct{ Expect struct{ ErrorType string } }
		}
	}
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/code-agents/odd/tests/generate", map[string]any{"count": 40, "seed": 7}).Into(t, &declared)
	refused := 0
	for _, one := range declared.Cases {
		if one.Kind != "invalid" && one.Test.Expect.ErrorType == "invalid_input" {
			refused++
		}
	}
	if declared.Failed != 0 || refused == 0 {
		t.Errorf("%+v", declared)
	}
}
