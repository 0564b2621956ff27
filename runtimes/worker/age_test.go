package worker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestPoolForgetsTheOld: a worker that is too old goes, also from a pool that prepares none and that nobody asks.
func TestPoolForgetsTheOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, worker.Options{Jailer: &troupe{t: t, play: tireless}, Reuse: worker.Reuse{Runs: 100, Age: time.Minute}})
		expect(t, "young", serve(t, pool, "a"), "1")
		<-time.After(50 * time.Second)
		synctest.Wait()
		if n := pool.Stats().Idle; n != 1 {
			t.Errorf("%d workers wait, which are young", n)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if n := pool.Stats().Idle; n != 0 {
			t.Errorf("%d workers wait, which are old", n)
		}
	})
}
