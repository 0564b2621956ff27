package worker

import (
	"testing"
	"time"
)

func TestCallRateLimit(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for name, tt := range map[string]struct {
		calls, size int
		apart       time.Duration
		want        time.Duration // wait of the last call
	}{
		"within the burst":      {calls: callBurst, want: 0},
		"one second beyond":     {calls: callBurst + callRate, want: time.Second},
		"slower than the rate":  {calls: 5 * callBurst, apart: time.Second / callRate, want: 0},
		"large within":          {calls: callBurst / 65, size: 1 << 20, want: 0},
		"large calls cost more": {calls: callBurst/65 + 66, size: 1 << 20, want: 4 * time.Second},
	} {
		var limit callRateLimit
		now, got := start, time.Duration(0)
		for range tt.calls {
			now = now.Add(tt.apart)
			got = limit.spend(now, tt.size)
		}
		if off := got - tt.want; off < -300*time.Millisecond || off > 300*time.Millisecond {
			t.Errorf("%s: waits %v, want %v", name, got, tt.want)
		}
	}
}
