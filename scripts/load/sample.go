package load

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Call is one question, the nth. It answers an error when the answer is not right.
type Call func(ctx context.Context, n int) error

// Sample is what was measured. Fault is the first wrong or missing answer.
type Sample struct {
	Times []time.Duration // ascending
	Span  time.Duration
	Wrong int
	Fault error

	mu sync.Mutex
}

func (s *Sample) add(took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.Times = append(s.Times, took)
		return
	}
	s.Wrong++
	if s.Fault == nil {
		s.Fault = err
	}
}

// done closes a sample.
func (s *Sample) done(began time.Time) *Sample {
	s.Span = time.Since(began)
	slices.Sort(s.Times)
	return s
}

// Closed lets each of several clients ask again as soon as it is answered, until the span is over.
func Closed(ctx context.Context, clients int, span time.Duration, call Call) *Sample {
	s, began := &Sample{}, time.Now()
	var wait sync.WaitGroup
	for client := range clients {
		wait.Go(func() {
			for n := client; time.Since(began) < span && ctx.Err() == nil; n += clients {
				asked := time.Now()
				err := call(ctx, n)
				s.add(time.Since(asked), err)
			}
		})
	}
	wait.Wait()
	return s.done(began)
}

// Paced asks so many times a second whether or not the answers have come, as independent callers do. The time of a call
// counts from when it was due, so that a server that stalls is not asked less.
func Paced(ctx context.Context, perSecond float64, span time.Duration, call Call) *Sample {
	s, began := &Sample{}, time.Now()
	step := time.Duration(float64(time.Second) / perSecond)
	var wait sync.WaitGroup
	for n := 0; ; n++ {
		due := began.Add(time.Duration(n) * step)
		if due.Sub(began) >= span {
			break
		}
		select {
		case <-ctx.Done():
			wait.Wait()
			return s.done(began)
		case <-time.After(time.Until(due)):
		}
		wait.Go(func() {
			err := call(ctx, n)
			s.add(time.Since(due), err)
		})
	}
	wait.Wait()
	return s.done(began)
}

// Bursts asks for so much in one moment, and again when all of it is answered.
func Bursts(ctx context.Context, rounds, size int, call Call) *Sample {
	s, began := &Sample{}, time.Now()
	for round := range rounds {
		if ctx.Err() != nil {
			break
		}
		var wait sync.WaitGroup
		asked := time.Now()
		for n := range size {
			wait.Go(func() {
				err := call(ctx, round*size+n)
				s.add(time.Since(asked), err)
			})
		}
		wait.Wait()
	}
	return s.done(began)
}

// Refusals counts answers that say when to come back.
type Refusals struct{ count atomic.Int64 }

// Allow calls again after a refusal, when it said to. One that does not say when is a fault.
func (r *Refusals) Allow(call Call) Call {
	return func(ctx context.Context, n int) error {
		for {
			err := call(ctx, n)
			var refused *Refusal
			if !errors.As(err, &refused) || refused.RetryAfter == "" {
				return err
			}
			r.count.Add(1)
			seconds, malformed := strconv.Atoi(refused.RetryAfter)
			if malformed != nil {
				return err
			}
			select {
			case <-time.After(time.Duration(seconds) * time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// Count is how often somebody was told to come back.
func (r *Refusals) Count() int64 { return r.count.Load() }

// At is the time within which this share of the calls was answered, in milliseconds.
func (s *Sample) At(share float64) float64 {
	if len(s.Times) == 0 {
		return 0
	}
	return Ms(s.Times[int(share*float64(len(s.Times)-1))])
}

// PerSecond is how many right answers came in a second.
func (s *Sample) PerSecond() float64 {
	if s.Span == 0 {
		return 0
	}
	return float64(len(s.Times)) / s.Span.Seconds()
}

// Ms is a duration in milliseconds.
func Ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
