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

// Call is a function that sends the nth request. It returns an error if the answer is wrong.
type Call func(ctx context.Context, n int) error

// Sample holds the measured times of requests. Fault is the first wrong or missing answer.
type Sample struct {
	Times []time.Duration // times in ascending order
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

// done sorts the times of a sample and sets its duration.
func (s *Sample) done(began time.Time) *Sample {
	s.Span = time.Since(began)
	slices.Sort(s.Times)
	return s
}

// Closed runs several clients for the given time. Each client sends its next request when its previous request is
// answered.
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

// Paced sends perSecond requests per second and does not wait for answers, like independent callers. The duration of a
// call starts at its scheduled time. So a slow server does not get fewer requests.
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

// Bursts sends size requests at once. When all of them are answered, it sends the next burst.
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

// Refusals counts refused requests whose answer contains a Retry-After.
type Refusals struct{ count atomic.Int64 }

// Allow returns a Call that waits for Retry-After and repeats a refused request. A refusal without Retry-After is an
// error.
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

// Count returns the number of refusals that contained a Retry-After.
func (r *Refusals) Count() int64 { return r.count.Load() }

// At returns a percentile of the times in milliseconds. For example, At(0.99) is the time within which 99 percent of
// the calls were answered.
func (s *Sample) At(share float64) float64 {
	if len(s.Times) == 0 {
		return 0
	}
	return Ms(s.Times[int(share*float64(len(s.Times)-1))])
}

// PerSecond returns the number of correct answers per second.
func (s *Sample) PerSecond() float64 {
	if s.Span == 0 {
		return 0
	}
	return float64(len(s.Times)) / s.Span.Seconds()
}

// Ms converts a duration to milliseconds.
func Ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
