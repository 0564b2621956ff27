package worker

import "time"

// Rate limit of the host calls of one run. A reply to a call, even to a refused one, can cost the server fifty times
// the CPU time that the call costs the program. The program's limits do not count the server's time. So after a burst
// of calls, replies are delayed. A call costs one unit, plus one unit for each unitBytes of its arguments.
const (
	callBurst = 10_000
	callRate  = 1_000 // units per second
	unitBytes = 16 << 10
)

// callRateLimit is a leaky bucket that counts the units which one run has used.
type callRateLimit struct {
	used float64 // units used; they decrease by callRate per second
	last time.Time
}

// spend counts a call whose arguments have size bytes. It returns the time by which the reply must be delayed.
func (l *callRateLimit) spend(now time.Time, size int) time.Duration {
	if !l.last.IsZero() {
		l.used = max(0, l.used-callRate*now.Sub(l.last).Seconds())
	}
	l.last = now
	l.used += 1 + float64(size)/unitBytes
	return time.Duration(max(0, l.used-callBurst) / callRate * float64(time.Second))
}
