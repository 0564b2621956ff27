package lru_test

import (
	"slices"
	"testing"

	"github.com/atelier-run/atelier/internal/lru"
)

func TestCache(t *testing.T) {
	t.Parallel()
	c := lru.New[string, int](3, 10)
	kept := func() (names []string) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			if _, ok := c.Get(name); ok {
				names = append(names, name)
			}
		}
		return names
	}
	steps := []struct {
		what string
		do   func()
		want []string
	}{
		{"three fit", func() { c.Put("a", 1, 1); c.Put("b", 2, 1); c.Put("c", 3, 1) }, []string{"a", "b", "c"}},
		{"the fourth takes the place of the one that was used longest ago", func() { c.Get("a"); c.Put("d", 4, 1) }, []string{"a", "c", "d"}},
		{"a large one takes that of several", func() { c.Put("e", 5, 9) }, []string{"d", "e"}},
		{"one beyond all bounds is alone", func() { c.Put("b", 2, 99) }, []string{"b"}},
		{"and goes with the next", func() { c.Put("a", 1, 10) }, []string{"a"}},
	}
	for _, step := range steps {
		step.do()
		if got := kept(); !slices.Equal(got, step.want) {
			t.Errorf("%s: %v, not %v", step.what, got, step.want)
		}
	}
	c.Put("a", 7, 1)
	if v, _ := c.Get("a"); v != 1 {
		t.Errorf("a is %d", v)
	}
}
