// Package usage reports the usage of workspaces by calendar month (UTC), and the cost of the usage. The store counts
// the usage of a run when the run ends. This package adds the measurements of storage.
package usage

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/quotas"
)

// Months is the number of months in the history of a meter.
const Months = 12

// Store stores the monthly amounts of meters.
type Store interface {
	Usage(ctx context.Context, workspace string, first, last registry.Month) ([]registry.Use, error)
	RaiseUsage(ctx context.Context, workspace string, use registry.Use) error
}

// Storage returns the number of bytes that a workspace stores. It measures at most once an hour.
type Storage interface {
	Of(ctx context.Context, workspace string) (quotas.Report, error)
}

// Options configures a Service.
type Options struct {
	Store    Store
	Storage  Storage
	Prices   registry.Prices
	Currency string
	Now      func() time.Time
}

// Service reports usage. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// Monthly is the usage of a workspace in a month.
type Monthly struct {
	Month    registry.Month `json:"month"`
	Until    time.Time      `json:"until" doc:"End of the month."`
	Currency string         `json:"currency"`
	Cost     float64        `json:"cost" doc:"Sum of the costs of all meters."`
	Meters   []MeterReading `json:"meters"`
}

// MeterReading is the reading of a meter at the end of a month, or now.
type MeterReading struct {
	Meter   registry.Meter  `json:"meter" enum:"runs,cpuSeconds,gpuMinutes,remoteSeconds,remoteCost,tokens,egressBytes,storageBytes"`
	Unit    string          `json:"unit"`
	Amount  float64         `json:"amount"`
	Price   float64         `json:"price" doc:"Price of the number of units in the field per. 0 means free of charge."`
	Per     float64         `json:"per"`
	Cost    float64         `json:"cost"`
	History []MonthlyAmount `json:"history" doc:"The last twelve months, oldest first."`
}

// MonthlyAmount is the amount of a meter in one month.
type MonthlyAmount struct {
	Month  registry.Month `json:"month"`
	Amount float64        `json:"amount"`
}

// Of returns the usage of a workspace in a month; "" means the current month. Error: InvalidInput for an invalid month.
func (s *Service) Of(ctx context.Context, workspace string, month registry.Month) (Monthly, error) {
	now := registry.MonthOf(s.Now())
	if month == "" {
		month = now
	}
	start, ok := month.Start()
	if !ok {
		return Monthly{}, fault.Invalid("/month", "must be a month such as %s.", now)
	}
	if month == now {
		if err := s.Measure(ctx, workspace); err != nil {
			return Monthly{}, err
		}
	}
	first := registry.MonthOf(start.AddDate(0, 1-Months, 0))
	uses, err := s.Store.Usage(ctx, workspace, first, month)
	if err != nil {
		return Monthly{}, err
	}
	amounts := map[registry.Use]float64{} // amounts by month and meter
	for _, u := range uses {
		amounts[registry.Use{Month: u.Month, Meter: u.Meter}] = u.Amount
	}
	r := Monthly{Month: month, Until: month.End(), Currency: s.Currency}
	for _, meter := range registry.Meters() {
		amount := amounts[registry.Use{Month: month, Meter: meter}]
		one := MeterReading{Meter: meter, Unit: meter.Unit(), Amount: amount, Price: s.Prices[meter], Per: meter.Per(), Cost: s.Prices.Cost(meter, amount), History: make([]MonthlyAmount, 0, Months)}
		for n := range Months {
			at := registry.MonthOf(start.AddDate(0, n+1-Months, 0))
			one.History = append(one.History, MonthlyAmount{at, amounts[registry.Use{Month: at, Meter: meter}]})
		}
		r.Cost += one.Cost
		r.Meters = append(r.Meters, one)
	}
	return r, nil
}

// Measure raises the storage meter of the current month to the current measurement, if the measurement is higher.
func (s *Service) Measure(ctx context.Context, workspace string) error {
	measured, err := s.Storage.Of(ctx, workspace)
	if err != nil {
		return err
	}
	return s.Store.RaiseUsage(ctx, workspace, registry.Use{Month: registry.MonthOf(s.Now()), Meter: registry.StorageMeter, Amount: float64(measured.Used.StorageBytes)})
}
