package store_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestRunListsDoNotSort asks SQLite how it would page through many runs: along an index, whatever their number.
func TestRunListsDoNotSort(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	const order = " ORDER BY r.created_at DESC, r.id DESC LIMIT 51"
	for name, query := range map[string]string{
		"newest":   "SELECT * FROM runs AS r WHERE r.workspace_id = 'w'" + order,
		"after":    "SELECT * FROM runs AS r WHERE r.workspace_id = 'w' AND (r.created_at, r.id) < ('2026', 'x')" + order,
		"of agent": "SELECT * FROM runs AS r WHERE r.workspace_id = 'w' AND r.agent_id <> '' AND r.agent_id = 'a' AND (r.created_at, r.id) < ('2026', 'x')" + order,
		"events":   "SELECT * FROM run_events AS e WHERE e.run_id = 'r' AND e.workspace_id = 'w' AND e.seq > 5 ORDER BY e.seq LIMIT 100",
		"open":     "SELECT * FROM runs AS r WHERE (r.status IN ('queued', 'awaiting_approval', 'running')) AND (r.status <> 'awaiting_approval')",
	} {
		plan, err := s.Plan(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s", name, plan)
		}
		t.Log(name, plan)
	}
}
