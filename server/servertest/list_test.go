package servertest_test

import (
	"net/http"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// Regression: an agent with only pre-releases appeared among the published ones, but with the state draft.
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
