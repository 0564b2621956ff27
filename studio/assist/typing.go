package assist

import "sync"

// typing counts the suggestions in progress, by workspace.
type typing struct {
	mu  sync.Mutex
	all int
	by  map[string]int
}

// enter counts a suggestion, or returns false if too many are in progress. It does not wait, because the person types
// on. After completeAtOnce suggestions, only workspaces without a suggestion in progress are admitted, one each. So one
// workspace cannot use up all suggestions.
func (t *typing) enter(workspace string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all >= completeAtOnce && (t.by[workspace] > 0 || t.all >= completeInAll) {
		return false
	}
	t.all++
	t.by[workspace]++
	return true
}

func (t *typing) leave(workspace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.by[workspace]--; t.by[workspace] == 0 {
		delete(t.by, workspace)
	}
}
