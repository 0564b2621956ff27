package registry

import (
	"math"
	"time"
)

// Meter is a kind of usage, for example CPU time. The server counts usage for each workspace and calendar month (UTC).
type Meter string

// These are the values of Meter.
const (
	RunsMeter       Meter = "runs"          // number of runs whose program started
	CPUMeter        Meter = "cpuSeconds"    // CPU time on this server
	GPUMeter        Meter = "gpuMinutes"    // GPU time multiplied by the number of GPUs
	RemoteMeter     Meter = "remoteSeconds" // time on remote services
	RemoteCostMeter Meter = "remoteCost"    // cost that remote services report, in the server's currency
	TokensMeter     Meter = "tokens"        // tokens of language models
	EgressMeter     Meter = "egressBytes"   // bytes between programs and granted hosts, in both directions
	StorageMeter    Meter = "storageBytes"  // highest measured storage of the month
)

// Meters returns all meters, in the order in which lists show them.
func Meters() []Meter {
	return []Meter{RunsMeter, CPUMeter, GPUMeter, RemoteMeter, RemoteCostMeter, TokensMeter, EgressMeter, StorageMeter}
}

// scale is the number of smallest units in one unit of the meter. The store adds up smallest units, because sums of
// integers are exact.
func (m Meter) scale() float64 {
	switch m {
	case CPUMeter, RemoteMeter, RemoteCostMeter:
		return 1e6
	case GPUMeter:
		return 60e6
	case RunsMeter, TokensMeter, EgressMeter, StorageMeter:
		return 1
	}
	return 1
}

// Smallest converts an amount to smallest units of the meter.
func (m Meter) Smallest(amount float64) int64 { return int64(math.Round(amount * m.scale())) }

// Amount converts smallest units to units of the meter.
func (m Meter) Amount(smallest int64) float64 { return float64(smallest) / m.scale() }

// Month is a calendar month in UTC, such as 2026-11.
type Month string

const monthForm = "2006-01"

// MonthOf returns the month of a time.
func MonthOf(t time.Time) Month { return Month(t.UTC().Format(monthForm)) }

// Start returns the first moment of a month. ok is false if the text is not a valid month.
func (m Month) Start() (at time.Time, ok bool) {
	at, err := time.Parse(monthForm, string(m))
	return at, err == nil
}

// End returns the first moment of the next month. It returns the zero time if the text is not a valid month.
func (m Month) End() time.Time {
	at, ok := m.Start()
	if !ok {
		return time.Time{}
	}
	return at.AddDate(0, 1, 0)
}

// Use is an amount on one meter of a workspace in a month.
type Use struct {
	Month  Month
	Meter  Meter
	Amount float64
}

// Uses returns the amounts that a finished run adds to the meters. If the program never started, the run adds nothing.
// Uses omits tokens, because the server counts them at each request to the language model.
func (r Run) Uses() []Use {
	if r.StartedAt == nil {
		return nil
	}
	at := r.CreatedAt
	if r.FinishedAt != nil {
		at = *r.FinishedAt
	}
	month := MonthOf(at)
	uses := []Use{{month, RunsMeter, 1}}
	for _, one := range [...]Use{
		{month, CPUMeter, r.Metrics.CPUMs / 1000}, {month, GPUMeter, r.Metrics.GPUMs / 60_000}, {month, RemoteMeter, r.Metrics.RemoteMs / 1000},
		{month, RemoteCostMeter, r.Metrics.RemoteCost}, {month, EgressMeter, float64(r.Metrics.EgressBytes)},
	} {
		if one.Amount > 0 {
			uses = append(uses, one)
		}
	}
	return uses
}

// Unit is the name of one unit of the meter, in the plural.
func (m Meter) Unit() string {
	switch m {
	case RunsMeter:
		return "runs"
	case CPUMeter:
		return "CPU seconds"
	case GPUMeter:
		return "GPU minutes"
	case RemoteMeter:
		return "remote seconds"
	case RemoteCostMeter:
		return "cost of remote services"
	case TokensMeter:
		return "tokens"
	case EgressMeter:
		return "bytes of egress"
	case StorageMeter:
		return "bytes of storage"
	}
	return string(m)
}

// Per is the number of units to which the meter's price applies.
func (m Meter) Per() float64 {
	switch m {
	case TokensMeter:
		return 1e6
	case EgressMeter, StorageMeter:
		return 1e9
	case RunsMeter, CPUMeter, GPUMeter, RemoteMeter, RemoteCostMeter:
		return 1
	}
	return 1
}

// Prices holds the price of each meter, in the server's currency. A meter without a price is free.
type Prices map[Meter]float64

// Cost returns the price of an amount, with at most six decimals. For the meter RemoteCostMeter the amount itself is
// the price.
func (p Prices) Cost(m Meter, amount float64) float64 {
	if m == RemoteCostMeter {
		return amount
	}
	return math.Round(amount*p[m]/m.Per()*1e6) / 1e6
}
