package store_test

import (
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestMeasure(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		empty, err := s.Measure(t.Context())
		if err != nil || empty.Bytes < 1<<16 || !empty.OldestRun.IsZero() {
			t.Errorf("an empty database has %+v, %v", empty, err)
		}
		for n, age := range []time.Duration{time.Hour, 2 * time.Hour, time.Minute} {
			r := finished()
			r.ID, r.CreatedAt = idAt(start.Add(-age), n), start.Add(-age)
			finish(t, s, r, events(1, 500)...)
		}
		full, err := s.Measure(t.Context())
		if err != nil || full.Bytes <= empty.Bytes || !full.OldestRun.Equal(start.Add(-2*time.Hour)) {
			t.Errorf("the database has %+v, %v", full, err)
		}
	})
}
