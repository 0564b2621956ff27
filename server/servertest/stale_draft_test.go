package servertest_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

const stalePath = "/api/v1/code-agents/weather"

// overtaken creates an agent whose draft is at revision 2. The draft was saved after the caller had read revision 1.
func overtaken(t *testing.T) *servertest.Server {
	t.Helper()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "weather", "language": "python", "code": "def main(input): return {'by': 'first'}\n"})
	save(t, s, "1", map[string]any{"code": "def main(input): return {'by': 'second'}\n"})
	return s
}

// usesOfADraft returns all requests that act on a draft, with the revision to which each refers.
func usesOfADraft(revision int64) map[string]struct {
	method, path string
	body         map[string]any
	headers      servertest.Headers
	status       int
} {
	match := servertest.Headers{"If-Match": strconv.Quote(strconv.FormatInt(revision, 10))}
	type use = struct {
		method, path string
		body         map[string]any
		headers      servertest.Headers
		status       int
	}
	query := "?revision=" + strconv.FormatInt(revision, 10)
	return map[string]use{
		"save":                     {"PUT", "", map[string]any{"title": "New"}, match, 200},
		"publish, header":          {"POST", "/versions", map[string]any{"version": "1.0.0"}, match, 201},
		"publish, body":            {"POST", "/versions", map[string]any{"version": "1.0.0", "revision": revision}, nil, 201},
		"execute, header":          {"POST", "/execute", map[string]any{"version": "draft"}, match, 200},
		"execute, body":            {"POST", "/execute", map[string]any{"version": "draft", "revision": revision}, nil, 200},
		"export, header":           {"POST", "/export-tool", map[string]any{"publish": true}, match, 200},
		"export, body":             {"POST", "/export-tool", map[string]any{"publish": true, "revision": revision}, nil, 200},
		"copy, header":             {"POST", "/copy", map[string]any{"name": "other"}, match, 201},
		"copy, body":               {"POST", "/copy", map[string]any{"name": "other", "revision": revision}, nil, 201},
		"runtime, header":          {"GET", "/runtime", nil, match, 200},
		"runtime, query":           {"GET", "/runtime" + query, nil, nil, 200},
		"compare the draft":        {"GET", "/diff" + query + "&from=draft", nil, nil, 200},
		"compare the draft, match": {"GET", "/diff?from=draft", nil, match, 200},
	}
}

// TestUseOfADraft_SavedSince_StaleDraft checks that no route acts on a draft that its caller has not seen. This can
// happen if two people edit one agent.
func TestUseOfADraft_SavedSince_StaleDraft(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	for name, use := range usesOfADraft(1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var body any
			if use.body != nil {
				body = use.body
			}
			refused := s.Want(t, 409, use.method, stalePath+use.path, body, use.headers)
			var problem struct {
				Code            string
				CurrentRevision int64
				SavedAt         string
				SavedBy         struct{ ID, Name string }
			}
			refused.Into(t, &problem)
			if problem.Code != "stale_draft" || problem.CurrentRevision != 2 || problem.SavedAt == "" || problem.SavedBy.ID == "" || problem.SavedBy.Name == "" {
				t.Errorf("refused with %s", refused.Body)
			}
		})
	}
}

func TestUseOfADraft_CurrentRevision_Accepted(t *testing.T) {
	t.Parallel()
	for name, use := range usesOfADraft(2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := overtaken(t)
			var body any
			if use.body != nil {
				body = use.body
			}
			s.Want(t, use.status, use.method, stalePath+use.path, body, use.headers)
		})
	}
}

func TestDraft_NamesWhoSavedItAndWhen(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	var agent struct {
		Draft struct {
			Revision int64
			SavedAt  string
			SavedBy  struct{ ID, Name string }
		}
	}
	s.Want(t, 200, "GET", stalePath, nil).Into(t, &agent)
	if agent.Draft.Revision != 2 || agent.Draft.SavedAt == "" || agent.Draft.SavedBy.ID == "" || agent.Draft.SavedBy.Name == "" {
		t.Errorf("got %+v", agent.Draft)
	}
}

// TestAnswers_NameTheDraftRevision checks that the answer contains the revision of the used draft if the caller sends
// none.
func TestAnswers_NameTheDraftRevision(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	var answer struct {
		RunID         string
		DraftRevision int64
	}
	named := func(step string, from servertest.Answer) {
		t.Helper()
		answer.DraftRevision = 0
		if from.Into(t, &answer); answer.DraftRevision != 2 {
			t.Errorf("%s names revision %d: %s", step, answer.DraftRevision, from.Body)
		}
	}
	named("execute", s.Want(t, 200, "POST", stalePath+"/execute", map[string]any{"version": "draft"}))
	named("the run's record", s.Want(t, 200, "GET", "/api/v1/runs/"+answer.RunID, nil))
	named("respond-async", s.Want(t, 202, "POST", stalePath+"/execute", map[string]any{"version": "draft"}, servertest.Headers{"Prefer": "respond-async"}))
	exported := s.Want(t, 200, "POST", stalePath+"/export-tool", map[string]any{"publish": true})
	if got := exported.Header.Get("Atelier-Draft-Revision"); got != "2" {
		t.Errorf("export with publish names revision %q", got)
	}
	save(t, s, "2", map[string]any{"code": "def main(input): return 3\n"})
	published := s.Want(t, 201, "POST", stalePath+"/versions", map[string]any{})
	if published.Into(t, &answer); answer.DraftRevision != 3 {
		t.Errorf("publish: %s", published.Body)
	}
	named("replay", s.Want(t, 200, "GET", "/api/v1/runs/"+answer.RunID, nil))
	exported = s.Want(t, 200, "POST", stalePath+"/export-tool", map[string]any{})
	if _, is := exported.Header["Atelier-Draft-Revision"]; is {
		t.Error("an export that published nothing names a draft")
	}
	var version map[string]json.RawMessage
	s.Want(t, 200, "GET", stalePath+"/versions/latest", nil).Into(t, &version)
	if version["draftRevision"] != nil {
		t.Error("a version that is read names a draft")
	}
}

// TestRevision_WithoutADraft_Refused checks that a revision is an error if the request does not use a draft.
func TestRevision_WithoutADraft_Refused(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	s.Publish(t, "weather", "1.0.0")
	for name, use := range map[string]struct {
		method, path string
		body         any
	}{
		"execute a version": {"POST", "/execute", map[string]any{"version": "1.0.0", "revision": 2}},
		"compare versions":  {"GET", "/diff?from=1.0.0&to=1.0.0&revision=2", nil},
		"export":            {"POST", "/export-tool", map[string]any{"revision": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := s.Want(t, 422, use.method, stalePath+use.path, use.body).Problem(t)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != "/revision" {
				t.Errorf("refused with %+v", p)
			}
		})
	}
	if p := s.Want(t, 422, "POST", stalePath+"/versions", map[string]any{"revision": 1}, servertest.Headers{"If-Match": `"2"`}).Problem(t); p.Errors[0].Pointer != "/revision" {
		t.Errorf("two revisions: %+v", p)
	}
	s.Want(t, 400, "POST", stalePath+"/versions", map[string]any{}, servertest.Headers{"If-Match": "2"})
}

// TestReplay_SavedSince_StaleDraft checks that all recorded inputs run with the same revision of the draft.
func TestReplay_SavedSince_StaleDraft(t *testing.T) {
	t.Parallel()
	s := overtaken(t)
	s.Publish(t, "weather", "1.0.0")
	s.Execute(t, "weather", "1.0.0", map[string]any{})
	s.Want(t, 409, "POST", stalePath+"/replay", map[string]any{}, servertest.Headers{"If-Match": `"1"`})
	s.Want(t, 409, "POST", stalePath+"/replay", map[string]any{"revision": 1})
	var report struct{ DraftRevision int64 }
	s.Want(t, 200, "POST", stalePath+"/replay", map[string]any{"revision": 2}).Into(t, &report)
	if report.DraftRevision != 2 {
		t.Errorf("the report names revision %d", report.DraftRevision)
	}
}

// TestPromoteSkill_SavedSince_StaleDraft checks that the routes for skills do not act on a draft that their caller has
// not seen.
func TestPromoteSkill_SavedSince_StaleDraft(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Want(t, 200, "POST", "/v1/skills/create", map[string]any{"name": "adder", "description": "Adds numbers up.", "code": "def run(action, args):\n    return 1\n"})
	s.Want(t, 200, "POST", "/v1/skills/create", map[string]any{"name": "adder", "description": "Adds numbers up.", "code": "def run(action, args):\n    return 2\n"})
	s.Want(t, 409, "POST", "/api/v1/skills/adder/promote", map[string]any{}, servertest.Headers{"If-Match": `"1"`})
	s.Want(t, 409, "POST", "/api/v1/skills/adder/promote", map[string]any{"revision": 1})
	s.Want(t, 409, "POST", "/v1/skills/promote", map[string]any{"name": "adder", "revision": 1})
	s.Want(t, 409, "POST", "/v1/skills/create", map[string]any{"name": "adder", "description": "Adds numbers up.", "code": "def run(action, args):\n    return 3\n", "revision": 1})
	s.Want(t, 200, "POST", "/v1/skills/promote", map[string]any{"name": "adder", "revision": 2})
}
