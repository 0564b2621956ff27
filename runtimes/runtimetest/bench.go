package runtimetest

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes"
)

// Benchmark measures the time of a run of Programs.Hello, from the call of the engine to the outcome, with one client and
// with eight.
func Benchmark(b *testing.B, rt runtimes.Runtime, p Programs) {
	b.Helper()
	run := func() {
		outcome, err := rt.Run(b.Context(), p.Job(p.Hello), NewHost())
		if err != nil || outcome.Error != nil {
			b.Errorf("%+v, %v", outcome.Error, err)
		}
	}
	b.Run("1 client", func(b *testing.B) {
		for b.Loop() {
			run()
		}
	})
	b.Run("8 clients", func(b *testing.B) {
		b.SetParallelism(4) // number of goroutines per CPU: eight goroutines on a machine with two CPUs
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				run()
			}
		})
	})
}
