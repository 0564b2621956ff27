package servertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/servertest"
)

func TestQuotas(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true", "quota-concurrent-runs": "1", "quota-storage-bytes": "100000"}))
	waits := s.Start(t, "wait")
	refused := s.Script(t, "echo")
	problem := refused.Problem(t)
	if refused.Status != 429 || problem.Code != fault.QuotaExceeded || refused.Header.Get("Retry-After") != "1" || !strings.Contains(string(refused.Body), `"quota":"concurrentRuns"`) {
		t.Errorf("%d %s", refused.Status, refused.Body)
	}
	s.Want(t, 200, http.MethodPost, "/api/v1/runs/"+waits+"/cancel", nil)
	if answer := s.Script(t, "echo"); answer.Status != 200 { // The slot is free as soon as the end of the run is reported.
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	var told struct {
		Limits, Own map[string]int64
		Used        struct{ ConcurrentRuns, RunsPerDay, StorageBytes int64 }
	}
	var there struct{ ID string }
	s.Want(t, 201, http.MethodPost, "/api/v1/code-agents", map[string]any{"name": "there", "language": "bash", "code": "echo"}).Into(t, &there)
	s.Want(t, 201, http.MethodPost, "/api/v1/code-agents/there/versions", map[string]any{"version": "1.0.0"})
	s.Want(t, 200, http.MethodPost, "/api/v1/code-agents/there/publish", map[string]any{"public": true})
	saved := s.Want(t, 200, http.MethodGet, "/api/v1/archive", nil).Body
	s.Want(t, 200, http.MethodPut, "/api/v1/quotas/default", map[string]int64{"runsPerDay": 2, "storageBytes": 1}).Into(t, &told)
	if told.Limits["runsPerDay"] != 2 || told.Limits["concurrentRuns"] != 1 || told.Own["storageBytes"] != 1 || told.Used.RunsPerDay != 2 || told.Used.StorageBytes == 0 {
		t.Errorf("%+v", told)
	}
	agent := map[string]any{"name": "a", "language": "bash", "code": "echo"}
	for name, answer := range map[string]servertest.Answer{
		"run": s.Script(t, "echo"), "agent": s.Do(t, http.MethodPost, "/api/v1/code-agents", agent),
		"copy":         s.Do(t, http.MethodPost, "/api/v1/code-agents/there/copy", map[string]any{"name": "copy"}),
		"registry":     s.Do(t, http.MethodPost, "/api/v1/code-agents/registry/"+there.ID+"/copy", map[string]any{"name": "copy"}),
		"former draft": s.Do(t, http.MethodPost, "/api/v1/code-agents/there/draft", map[string]any{"from": "1.0.0"}, servertest.Headers{"If-Match": `"1"`}),
		"archive":      s.Do(t, http.MethodPost, "/api/v1/archive", string(saved), servertest.Headers{"Content-Type": "application/gzip"}),
	} {
		if answer.Status != 403 || answer.Problem(t).Code != fault.StorageFull {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	s.Want(t, 200, http.MethodPut, "/api/v1/quotas/default", map[string]int64{"runsPerDay": 2})
	s.Create(t, agent)
	if answer := s.Script(t, "echo"); answer.Status != 429 || answer.Header.Get("Retry-After") == "" || !strings.Contains(string(answer.Body), `"until"`) {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	s.Want(t, 422, http.MethodPut, "/api/v1/quotas/default", map[string]int64{"runsPerDay": -1})
	s.Want(t, 404, http.MethodPut, "/api/v1/quotas/nowhere", map[string]int64{})
	s.Want(t, 201, http.MethodPost, "/api/v1/workspaces", map[string]string{"name": "other"})
	s.Want(t, 200, http.MethodPut, "/api/v1/quotas/other", map[string]int64{"runsPerDay": 7})
	told.Own, told.Limits = nil, nil
	s.Want(t, 200, http.MethodGet, "/api/v1/quotas/other", nil).Into(t, &told)
	if told.Limits["runsPerDay"] != 7 || told.Own["runsPerDay"] != 7 || len(told.Own) != 1 || told.Used.RunsPerDay != 0 {
		t.Errorf("%+v", told)
	}
	s.Want(t, 404, http.MethodGet, "/api/v1/quotas/nowhere", nil)
}
