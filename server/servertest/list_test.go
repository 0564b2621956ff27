package servertest_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/atelier-run/atelier/server/servertest"
)

// Regression: an agent with only pre-releases was listed among the published agents, but with the state draft.
func TestListSaysTheStateItWasAskedFor(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	body := map[string]any{"name": "early", "language": "bash", "code": "echo 1\n"}
	type times struct{ CreatedAt, UpdatedAt string }
	var told, kept times
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", body).Into(t, &told)
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents/early", nil).Into(t, &kept)
	if told != kept {
		t.Errorf("told %v, kept %v", told, kept)
	}
	s.Publish(t, "early", "1.0.0-rc.1")
	for _, state := range []string{"published", "draft"} {
		var list struct {
			Items []struct{ Name, State string }
		}
		s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents?state="+state, nil).Into(t, &list)
		if state == "published" && len(list.Items) != 1 {
			t.Errorf("%d published agents", len(list.Items))
		}
		for _, agent := range list.Items {
			if agent.State != state {
				t.Errorf("%s is listed as %s and says %s", agent.Name, state, agent.State)
			}
		}
	}
}

type listedAgent struct {
	Name               string
	UnpublishedChanges bool
	LastRun            *struct{ Status string }
	CreatedBy          *struct{ Name string }
}

func listAgents(t *testing.T, s *servertest.Server, query string) map[string]listedAgent {
	t.Helper()
	var list struct{ Items []listedAgent }
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/code-agents"+query, nil).Into(t, &list)
	found := map[string]listedAgent{}
	for _, agent := range list.Items {
		found[agent.Name] = agent
	}
	return found
}

func TestListAgents_Views(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const division = "export default ({ by }) => { if (by === 0) throw new Error('zero'); return 1 / by }"
	for _, name := range []string{"fresh", "divides"} {
		s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": name, "language": "javascript", "code": division})
		s.Publish(t, name, "1.0.0")
	}
	run := func(by int) {
		t.Helper()
		s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/code-agents/divides/execute", map[string]any{"version": "draft", "input": map[string]int{"by": by}})
	}
	if all := listAgents(t, s, ""); all["divides"].UnpublishedChanges || all["divides"].LastRun != nil || all["fresh"].CreatedBy == nil {
		t.Errorf("a published agent without runs is listed as %+v", all)
	}
	run(0)
	if failing := listAgents(t, s, "?view=failing"); len(failing) != 1 || failing["divides"].LastRun == nil || failing["divides"].LastRun.Status != "failed" {
		t.Errorf("after a failure, failing lists %+v", failing)
	}
	run(1)
	if failing := listAgents(t, s, "?view=failing"); len(failing) != 0 {
		t.Errorf("after a success, failing lists %+v", failing)
	}
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/divides", map[string]any{"code": division + "\n"}, servertest.Headers{"If-Match": `"1"`})
	if changed := listAgents(t, s, "?view=changed"); len(changed) != 1 || !changed["divides"].UnpublishedChanges {
		t.Errorf("after a save, changed lists %+v", changed)
	}
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/code-agents/divides", map[string]any{"code": division}, servertest.Headers{"If-Match": `"2"`})
	if changed := listAgents(t, s, "?view=changed"); len(changed) != 0 {
		t.Errorf("after the published code was saved again, changed lists %+v", changed)
	}
	s.Want(t, http.StatusOK, http.MethodPatch, "/api/v1/code-agents/divides", map[string]any{"description": "Divides one."})
	if changed := listAgents(t, s, "?view=changed"); !changed["divides"].UnpublishedChanges {
		t.Errorf("after a new description, changed lists %+v", changed)
	}
	s.Publish(t, "divides", "1.0.1")
	if changed := listAgents(t, s, "?view=changed"); len(changed) != 0 {
		t.Errorf("after publishing, changed lists %+v", changed)
	}
	if mine := listAgents(t, s, "?view=mine"); len(mine) != 2 {
		t.Errorf("mine lists %+v", mine)
	}
	s.Want(t, http.StatusUnprocessableEntity, http.MethodGet, "/api/v1/code-agents?view=yours", nil)
}

func TestListRuns_PersonAndInput(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	inline := func(text string) {
		t.Helper()
		s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", map[string]any{"language": "javascript", "code": "export default () => 1", "input": map[string]string{"text": text}})
	}
	inline("small")
	inline(strings.Repeat("é", 9000))
	inline(strings.Repeat("é", 1000))
	var page struct {
		Items []struct {
			RunID, InputPreview string
			By                  struct{ ID, Name, Type string }
		}
	}
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs", nil).Into(t, &page)
	if len(page.Items) != 3 || page.Items[2].InputPreview != `{"text":"small"}` || page.Items[2].By.Name == "" {
		t.Fatalf("the runs are listed as %+v", page.Items)
	}
	if cut := page.Items[0].InputPreview; utf8.RuneCountInString(cut) != 200 || !utf8.ValidString(cut) {
		t.Errorf("the preview of a long input has %d characters", utf8.RuneCountInString(cut))
	}
	if large := page.Items[1].InputPreview; large != "" {
		t.Errorf("an input above the limit has the preview %q", large)
	}
	var one struct{ By struct{ Name string } }
	s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs/"+page.Items[2].RunID, nil).Into(t, &one)
	if one.By.Name != page.Items[2].By.Name {
		t.Errorf("the run names %q, the list %q", one.By.Name, page.Items[2].By.Name)
	}
}
