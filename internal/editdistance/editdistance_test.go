package editdistance_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/editdistance"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"same", "same", 0}, {"kitten", "sitting", 3}, {"runtime", "runtmie", 2}, {"flaw", "lawn", 2},
	} {
		for _, words := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
			if got := editdistance.Distance(words[0], words[1]); got != tt.want {
				t.Errorf("%q and %q are %d apart, not %d", words[0], words[1], got, tt.want)
			}
			for n := range 4 {
				if got := editdistance.Within(words[0], words[1], n); got != (tt.want <= n) {
					t.Errorf("%q and %q within %d: %t", words[0], words[1], n, got)
				}
			}
		}
	}
}

// Within must reject a word that is far too long without comparing it.
func TestWithinRefusesLongWordsAtOnce(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	if n := testing.AllocsPerRun(1, func() { editdistance.Within(long, "name", 2) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
