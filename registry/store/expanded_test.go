package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestStore_ColumnsOfANewerRelease_Ignored checks that a server still works after a newer release has added columns to
// every table.
func TestStore_ColumnsOfANewerRelease_Ignored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		tables, err := s.Tables(t.Context())
		if err != nil || len(tables) == 0 {
			t.Fatal(tables, err)
		}
		for _, table := range tables {
			if strings.HasPrefix(table, "bun_") {
				continue
			}
			if err := s.Exec(t.Context(), "ALTER TABLE "+table+" ADD COLUMN of_the_next_release TEXT NOT NULL DEFAULT ''"); err != nil {
				t.Fatal(err)
			}
		}
		fill(t, s)
		a, err := s.Agent(t.Context(), ws, "weather")
		if err != nil || a.Name != "weather" {
			t.Fatal(err)
		}
		saved, err := s.SaveDraft(t.Context(), a, a.Draft.Revision)
		if err != nil {
			t.Errorf("save the draft of %s: %v", saved.Name, err)
		}
		page, err := s.ListRuns(t.Context(), ws, registry.RunFilter{})
		if err != nil || len(page.Items) == 0 {
			t.Fatalf("%+v, %v", page, err)
		}
		_, runErr := s.Run(t.Context(), ws, page.Items[0].ID)
		_, versionErr := s.Version(t.Context(), ws, a.ID, "1.0.0")
		_, approvalErr := s.Approval(t.Context(), ws, "approval")
		_, agentsErr := s.ListAgents(t.Context(), ws, registry.AgentFilter{})
		_, quotaErr := s.Quota(t.Context(), ws)
		if err := errors.Join(runErr, versionErr, approvalErr, agentsErr, quotaErr); err != nil {
			t.Error(err)
		}
	})
}
