package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// sample is what one row measured. fault is the first wrong or missing answer.
type sample struct {
	times []time.Duration
	span  time.Duration
	wrong int
	fault error
}

// measure calls from several clients in a closed loop until the span is over.
func measure(ctx context.Context, clients int, span time.Duration, call func(context.Context, int) error) sample {
	var (
		all  sample
		lock sync.Mutex
		wait sync.WaitGroup
	)
	start := time.Now()
	for client := range clients {
		wait.Go(func() {
			for n := client; time.Since(start) < span && ctx.Err() == nil; n += clients {
				began := time.Now()
				err := call(ctx, n)
				took := time.Since(began)
				lock.Lock()
				all.add(took, err)
				lock.Unlock()
			}
		})
	}
	wait.Wait()
	all.span = time.Since(start)
	slices.Sort(all.times)
	return all
}

func (s *sample) add(took time.Duration, err error) {
	if err == nil {
		s.times = append(s.times, took)
		return
	}
	s.wrong++
	if s.fault == nil {
		s.fault = err
	}
}

// at is the time within which this share of the calls was answered.
func (s sample) at(share float64) time.Duration {
	if len(s.times) == 0 {
		return 0
	}
	return s.times[int(share*float64(len(s.times)-1))]
}

func (s sample) perSecond() float64 {
	return float64(len(s.times)) / s.span.Seconds()
}

func (s sample) row(name string) string {
	line := fmt.Sprintf("  %-26s p50 %7.2f  p99 %7.2f ms  %7.0f/s", name, ms(s.at(0.5)), ms(s.at(0.99)), s.perSecond())
	if s.wrong > 0 {
		line += fmt.Sprintf("  %d WRONG", s.wrong)
	}
	return line
}
