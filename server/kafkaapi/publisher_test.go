package kafkaapi

import (
	"testing"
	"time"
)

// Transactions are rare only while many requests wait, and never if results are left over or the server stops.
func TestPublishing_Interval(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		records int
		bytes   int64
		last    commit
		want    time.Duration
	}{
		"no requests":    {want: publishEvery},
		"few requests":   {records: 10 * waitingPerMs, want: publishEvery + 10*time.Millisecond},
		"many requests":  {records: waitRecords, want: publishSeldom},
		"results left":   {records: waitRecords, last: commit{cut: true}, want: publishEvery},
		"memory is full": {records: waitRecords, bytes: allBytes, want: publishEvery},
	} {
		w := newWindow()
		w.records, w.bytes = tt.records, tt.bytes
		p := &publishing{consumer: &consumer{window: w}}
		if got := p.interval(tt.last); got != tt.want {
			t.Errorf("%s: the interval is %v, want %v", name, got, tt.want)
		}
	}
}
