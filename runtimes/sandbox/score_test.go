package sandbox

import "testing"

// TestJailScore_ServerHigher_KeepsIt checks that a jail never has a lower oom_score_adj than the server.
func TestJailScore_ServerHigher_KeepsIt(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]string{"0\n": "500", "-999\n": "500", "500\n": "500", "968\n": "968", "1000\n": "1000", "": "500"} {
		if got := jailScore([]byte(own)); got != want {
			t.Errorf("server %q: jail %s instead of %s", own, got, want)
		}
	}
}
