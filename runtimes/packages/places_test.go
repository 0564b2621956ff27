package packages

import (
	"context"
	"testing"
)

// TestEnter_AllBuildersBusy_OtherWorkspaceStarts: builds that never end do not keep workspaces without builds waiting.
func TestEnter_AllBuildersBusy_OtherWorkspaceStarts(t *testing.T) {
	t.Parallel()
	m := New(Options{Builds: []string{"builds"}})
	t.Cleanup(m.Close)
	for range mostAtOnce {
		if _, err := m.enter(t.Context(), "builds"); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.enter(ended, "builds"); err == nil {
		t.Error("one more build started")
	}
	if _, err := m.enter(t.Context(), "other"); err != nil { // waits for ever if builds have its places
		t.Error(err)
	}
}
