package worker

import "time"

// Rate limit of the host calls of one run. Replying to a call, even a refused one, costs the server up to fifty times the
// CPU time that the call costs the program, and the program's limits do not count the server's time. So after a burst,
// replies are delayed. A call costs one unit, plus one unit for each unitBytes of its arguments.
const (
	callBurst = 10_000
	callRate  = 1_000 // units per second
	unitBytes = 16 << 10
)

// callRateLimit is a leaky bucket: it counts the units that one run has used.
type callRateLimit struct {
	used float64 // units; decreases by callRate per second
	last time.Time
}

// spend charges a call with size bytes of arguments. It returns the time by which the reply must be delayed.
func (l *callRateLimit) spend(now time.Time, size int) time.Duration {
	if !l.last.IsZero() {
		l.used = max(0, l.used-callRate*now.Sub(l.last).Seconds())
	}
	l.last = now
	l.used += 1 + float64(size)/unitBytes
	return time.Duration(max(0, l.used-callBurst) / callRate * float64(time.Second))
}
