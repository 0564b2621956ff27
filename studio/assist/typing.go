package assist

import "sync"

// typing counts the suggestions that the model is asked for, by workspace.
type typing struct {
	mu  sync.Mutex
	all int
	by  map[string]int
}

// enter takes a place. It does not wait, because a person types on. A workspace that has no place gets one, so that
// another one cannot keep it from suggestions.
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
