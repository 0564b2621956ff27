package servertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

const before = `export default ({n}) => { if (n === 13) throw new Error("thirteen"); return {twice: n * 2}; }`

// after is a program that changes the result for 1, fails for 2, fixes 13, rejects values above 100, and keeps the
// result for 3.
const after = `export default ({n}) => { if (n === 2) throw new Error("two"); return {twice: n === 1 ? 3 : n * 2}; }`

func TestReplayFindsWhatCallersWouldNotice(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const agent = "/api/v1/code-agents/double"
	s.Want(t, http.StatusCreated, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": "double", "language": "javascript", "code": before})
	s.Want(t, http.StatusNotFound, http.MethodPost, agent+"/replay", map[string]any{})
	s.Publish(t, "double", "1.0.0")
	for _, n := range []int{1, 2, 3, 13, 101, 3} {
		s.Execute(t, "double", "1.0.0", map[string]any{"n": n})
	}
	type report struct {
		Version string
		Counts  map[string]int
		Items   []struct {
			Verdict       string
			Before, After struct{ RunID, Status, Message string }
		}
	}
	var same report
	s.Want(t, http.StatusOK, http.MethodPost, agent+"/replay", map[string]any{}).Into(t, &same)
	if same.Version != "1.0.0" || len(same.Items) != 5 || same.Counts["same"] != 5 {
		t.Fatalf("%+v", same)
	}
	if !strings.Contains(must(t, s, "replay", "double"), "same") {
		t.Error("the command does not tell")
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"maximum": 100}}}
	s.Want(t, http.StatusOK, http.MethodPut, agent, map[string]any{"code": after, "inputSchema": schema}, servertest.Headers{"If-Match": `"1"`})
	var changed report
	s.Want(t, http.StatusOK, http.MethodPost, agent+"/replay", map[string]any{"version": "1.0.0", "runs": 100}).Into(t, &changed)
	for _, verdict := range []string{"same", "changed", "fails", "refused", "fixed"} {
		if changed.Counts[verdict] != 1 {
			t.Errorf("%s: %+v", verdict, changed)
		}
	}
	for _, item := range changed.Items {
		if item.Verdict == "refused" {
			continue
		}
		if run := s.Get(t, item.After.RunID); run.Provenance.Version != "draft" {
			t.Errorf("%+v", run)
		}
	}
	var few report
	s.Want(t, http.StatusOK, http.MethodPost, agent+"/replay", map[string]any{"runs": 2}).Into(t, &few)
	if len(few.Items) != 2 {
		t.Errorf("%+v", few)
	}
	if code, stdout, stderr := command(t, s, "", "replay", "double", "--runs", "100"); code != 1 || !strings.Contains(stdout, "two") || !strings.Contains(stderr, "3 of 5") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	// A version with changes that callers would notice must not be published.
	problem := s.Want(t, http.StatusConflict, http.MethodPost, agent+"/versions", map[string]any{"bump": "major", "replay": 20})
	if text := string(problem.Body); !strings.Contains(text, `"tests_failed"`) {
		t.Error(text)
	}
	s.Want(t, http.StatusNotFound, http.MethodGet, agent+"/versions/2.0.0", nil)
	s.Want(t, http.StatusCreated, http.MethodPost, agent+"/versions", map[string]any{"bump": "major"})
	s.Want(t, http.StatusOK, http.MethodPatch, agent, map[string]any{"description": "Other words."})
	s.Want(t, http.StatusCreated, http.MethodPost, agent+"/versions", map[string]any{"bump": "patch", "replay": 20})
	s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, agent+"/replay", map[string]any{"runs": 101})
}
