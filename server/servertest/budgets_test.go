package servertest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/budgets"
)

// TestBudgets_UsedUp_RunsRefused uses a budget through the API and the command line. The third run must be refused, and
// the error must name the budget and the remedy. After the remedy, runs start again.
func TestBudgets_UsedUp_RunsRefused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	remote := []string{"--server", s.URL, "--token", s.Token}
	said := servertest.Command(t, "", append([]string{"budget", "set", "few-runs", "--meter", "runs", "--amount", "2", "--refuse", "all"}, remote...)...)
	if said.Code != 0 || !strings.Contains(said.Stdout, "few-runs") {
		t.Fatalf("%+v", said)
	}
	for range 2 {
		if answer := s.Script(t, "echo"); answer.Status != 200 {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	refused := s.Script(t, "echo")
	problem := refused.Problem(t)
	if refused.Status != 402 || problem.Code != fault.BudgetExceeded || !strings.Contains(string(refused.Body), `"budget":"few-runs"`) || !strings.Contains(problem.Detail, "2 of 2 runs") || !strings.Contains(problem.Detail, "atelier budget set few-runs --meter runs --refuse all --amount") {
		t.Errorf("%d %s", refused.Status, refused.Body)
	}
	var list struct{ Items []budgets.Balance }
	servertest.Eventually(t, "the warnings are recorded", func() bool {
		s.Want(t, 200, http.MethodGet, "/api/v1/budgets", nil).Into(t, &list)
		return len(list.Items) == 1 && len(list.Items[0].Warnings) == 3
	})
	if b := list.Items[0]; !b.Exceeded || b.Used != 2 || b.Percent != 100 || b.Unit != "runs" {
		t.Errorf("%+v", b)
	}
	s.Want(t, 200, http.MethodPut, "/api/v1/budgets/few-runs", map[string]any{"meter": "runs", "amount": 3, "refuse": "all"})
	if answer := s.Script(t, "echo"); answer.Status != 200 {
		t.Errorf("the budget was raised: %d %s", answer.Status, answer.Body)
	}
	if answer := s.Script(t, "echo"); answer.Status != 402 {
		t.Errorf("the fourth run: %d", answer.Status)
	}
	if said := servertest.Command(t, "", append([]string{"budget", "remove", "few-runs"}, remote...)...); said.Code != 0 {
		t.Errorf("%+v", said)
	}
	if answer := s.Script(t, "echo"); answer.Status != 200 {
		t.Errorf("the budget was removed: %d %s", answer.Status, answer.Body)
	}
	for _, body := range []string{`{"meter":"runs","amount":0}`, `{"meter":"coffee","amount":1}`, `{"meter":"runs","amount":1,"refuse":"maybe"}`, `{"amount":1}`, `{"meter":"runs","amount":1,"period":"day"}`} {
		s.Want(t, 422, http.MethodPut, "/api/v1/budgets/bad", body)
	}
}
