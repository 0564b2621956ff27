package assist

import (
	"strconv"
	"testing"
)

// If one workspace uses all completeAtOnce suggestions, another workspace must still get one.
func TestTyping_WorkspaceWithoutPlace_GetsOne(t *testing.T) {
	t.Parallel()
	places := typing{by: map[string]int{}}
	for range completeAtOnce {
		if !places.enter("a") {
			t.Fatal("a free place was refused")
		}
	}
	if places.enter("a") || !places.enter("b") || places.enter("b") {
		t.Errorf("%d places, %v", places.all, places.by)
	}
	for n := completeAtOnce + 1; n < completeInAll; n++ {
		if !places.enter(strconv.Itoa(n)) {
			t.Errorf("workspace %d has no place", n)
		}
	}
	if places.enter("last") {
		t.Error("there is a place too many")
	}
	places.leave("b")
	if !places.enter("last") || places.by["b"] != 0 {
		t.Errorf("%d places, %v", places.all, places.by)
	}
}
