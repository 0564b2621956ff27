package servertest_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/usage"
)

// usageOf returns the usage of the current month, as a report and as amounts by meter.
func usageOf(t *testing.T, s *servertest.Server) (usage.Monthly, map[registry.Meter]float64) {
	t.Helper()
	var r usage.Monthly
	s.Want(t, 200, http.MethodGet, "/api/v1/usage", nil).Into(t, &r)
	amounts := map[registry.Meter]float64{}
	for _, m := range r.Meters {
		amounts[m.Meter] = m.Amount
	}
	return r, amounts
}

func TestUsage_RunsAndPrices(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true", "price-runs": "0.5", "currency": "CHF"}))
	for range 3 {
		if answer := s.Script(t, "echo"); answer.Status != 200 {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	r, amounts := usageOf(t, s)
	if r.Month != registry.MonthOf(time.Now()) || r.Currency != "CHF" || r.Cost != 1.5 || amounts[registry.RunsMeter] != 3 || amounts[registry.StorageMeter] == 0 {
		t.Errorf("%+v", r)
	}
	s.Want(t, 422, http.MethodGet, "/api/v1/usage?month=2026-13", nil)
	var before usage.Monthly
	s.Want(t, 200, http.MethodGet, "/api/v1/usage?month=2025-01", nil).Into(t, &before)
	if before.Cost != 0 || len(before.Meters) != len(registry.Meters()) {
		t.Errorf("long ago: %+v", before)
	}
}

func TestUsage_CSV(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true", "price-runs": "0.5"}))
	s.Script(t, "echo")
	table := s.Do(t, http.MethodGet, "/api/v1/usage", nil, servertest.Headers{"Accept": "text/csv"})
	rows, err := csv.NewReader(strings.NewReader(string(table.Body))).ReadAll()
	if err != nil || table.Status != 200 || table.Header.Get("Content-Type") != "text/csv; charset=utf-8" || len(rows) != 1+usage.Months*len(registry.Meters()) {
		t.Fatalf("%d %v, %v, %d rows", table.Status, table.Header, err, len(rows))
	}
	if link := s.Want(t, 200, http.MethodGet, "/api/v1/usage?format=csv", nil); string(link.Body) != string(table.Body) {
		t.Errorf("the link answers %s", link.Body)
	}
	month := string(registry.MonthOf(time.Now()))
	if got := strings.Join(rows[len(rows)-len(registry.Meters())], " "); got != month+" runs runs 1 0.5 1 0.5 EUR" {
		t.Errorf("the runs of this month: %s", got)
	}
	if refused := s.Do(t, http.MethodGet, "/api/v1/usage?month=x", nil, servertest.Headers{"Accept": "text/csv"}); refused.Status != 422 {
		t.Errorf("a bad month: %d %s", refused.Status, refused.Body)
	}
}
