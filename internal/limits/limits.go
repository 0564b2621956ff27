// Package limits defines the seven limits of a run. All layers use the same type.
package limits

import "time"

// Limits holds the limits of one run. Times are in milliseconds and sizes in bytes. Timeout starts when the program
// starts.
type Limits struct {
	TimeoutMs      int64 `json:"timeoutMs"`
	CPUMs          int64 `json:"cpuMs"`
	MemoryBytes    int64 `json:"memoryBytes"`
	Processes      int64 `json:"processes"`
	OutputBytes    int64 `json:"outputBytes"` // limit for stdout and stderr together, and also for the JSON of the result
	DiskBytes      int64 `json:"diskBytes"`
	RecursionDepth int64 `json:"recursionDepth"`
}

// Field is one limit with its name in JSON.
type Field struct {
	Name  string
	Value *int64
}

// Fields lists the limits in a fixed order. Each Value points into l, so that the caller can change the limit.
func (l *Limits) Fields() []Field {
	return []Field{
		{"timeoutMs", &l.TimeoutMs}, {"cpuMs", &l.CPUMs}, {"memoryBytes", &l.MemoryBytes}, {"processes", &l.Processes},
		{"outputBytes", &l.OutputBytes}, {"diskBytes", &l.DiskBytes}, {"recursionDepth", &l.RecursionDepth},
	}
}

// Or returns the limits, but takes each limit that is 0 from other.
func (l Limits) Or(other Limits) Limits {
	from := other.Fields()
	for i, f := range l.Fields() {
		if *f.Value == 0 {
			*f.Value = *from[i].Value
		}
	}
	return l
}

// Defaults returns the limits of a version or an inline run that sets no limits. The configuration of the server may
// contain other defaults.
func Defaults() Limits {
	return Limits{TimeoutMs: 30_000, CPUMs: 30_000, MemoryBytes: 256 << 20, Processes: 64, OutputBytes: 1 << 20, DiskBytes: 64 << 20, RecursionDepth: 1000}
}

// Ceilings returns the highest limits that a server allows. The configuration of the server may contain other values.
func Ceilings() Limits {
	return Limits{TimeoutMs: 600_000, CPUMs: 600_000, MemoryBytes: 2 << 30, Processes: 512, OutputBytes: 16 << 20, DiskBytes: 1 << 30, RecursionDepth: 10_000}
}

// Least returns the lowest limits that are allowed. With lower limits a program could not even start.
func Least() Limits {
	return Limits{TimeoutMs: 1, CPUMs: 1, MemoryBytes: 16 << 20, Processes: 1, OutputBytes: 1, DiskBytes: 1 << 20, RecursionDepth: 10}
}

// Timeout returns the wall-clock limit as a duration.
func (l Limits) Timeout() time.Duration { return time.Duration(l.TimeoutMs) * time.Millisecond }

// CPU returns the CPU-time limit as a duration.
func (l Limits) CPU() time.Duration { return time.Duration(l.CPUMs) * time.Millisecond }
