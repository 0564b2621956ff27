package worker

import "time"

// Rate of host calls of one run. To answer a call, also a refused one, costs the server up to fifty times what it costs
// the program, and the program's limits do not count the server's time. So a run that has used up its burst waits for
// the next reply. A call costs one unit, and one for each unitBytes of its arguments.
const (
	callBurst = 10_000
	callRate  = 1_000 // units per second
	unitBytes = 16 << 10
)

// callRateLimit is the allowance of one run.
type callRateLimit struct {
	used float64 // units, of which callRate are forgiven each second
	last time.Time
}

// spend charges a call and returns the time that its reply must wait.
func (l *callRateLimit) spend(now time.Time, size int) time.Duration {
	if !l.last.IsZero() {
		l.used = max(0, l.used-callRate*now.Sub(l.last).Seconds())
	}
	l.last = now
	l.used += 1 + float64(size)/unitBytes
	return time.Duration(max(0, l.used-callBurst) / callRate * float64(time.Second))
}
