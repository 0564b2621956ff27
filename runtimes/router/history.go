package router

import "time"

// The history contains one hour, divided into minutes.
const (
	historyStep  = time.Minute
	historySteps = 60
)

// Minute holds the numbers of runs of all workspaces in one minute.
type Minute struct {
	At      time.Time // start of the minute
	Started int       // number of runs that started in the minute
	Running int       // maximum number of active runs at the same time
	Waiting int       // maximum number of waiting runs at the same time
}

// history counts runs by minute. The router's mutex guards it.
type history struct {
	minutes [historySteps]Minute
	before  [historySteps]present // numbers of runs before the first change in the minute
	after   [historySteps]present // numbers of runs after the last change in the minute
	now     present
}

// present holds the numbers of runs at one moment.
type present struct{ running, waiting int }

// note records a change. started is the number of runs that started; the other arguments are the numbers of active and
// waiting runs after the change.
func (h *history) note(now time.Time, started int, after present) {
	i, at := slot(now)
	m := &h.minutes[i]
	if !m.At.Equal(at) {
		*m = Minute{At: at, Running: h.now.running, Waiting: h.now.waiting}
		h.before[i] = h.now
	}
	m.Started += started
	m.Running, m.Waiting = max(m.Running, after.running), max(m.Waiting, after.waiting)
	h.now, h.after[i] = after, after
}

// last returns the minutes of the hour that ends at now, oldest first. A minute without a change has the numbers from the
// end of the previous minute.
func (h *history) last(now time.Time) []Minute {
	minutes := make([]Minute, 0, historySteps)
	before := h.now // these are the numbers of the whole hour if there was no change in it
	for n := range historySteps {
		if i, at := slot(now.Add(-time.Duration(n) * historyStep)); h.minutes[i].At.Equal(at) {
			before = h.before[i] // at the end of the loop, these are the numbers before the earliest change in the hour
		}
	}
	for n := historySteps - 1; n >= 0; n-- {
		i, at := slot(now.Add(-time.Duration(n) * historyStep))
		m := Minute{At: at, Running: before.running, Waiting: before.waiting}
		if h.minutes[i].At.Equal(at) {
			m, before = h.minutes[i], h.after[i]
		}
		minutes = append(minutes, m)
	}
	return minutes
}

// slot returns the index in the ring for the minute of now, and the start of that minute.
func slot(now time.Time) (int, time.Time) {
	at := now.UTC().Truncate(historyStep)
	return int(at.Unix()/int64(historyStep/time.Second)) % historySteps, at
}
