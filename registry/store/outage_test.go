package store_test

import (
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// A database that refuses writes was an internal error, and the server was still ready.
func TestReady_ReadOnlyDatabase_RefusesUntilItIsWritable(t *testing.T) {
	t.Parallel()
	for d, switchTo := range map[storetest.Dialect]map[bool]string{
		storetest.SQLite:   {true: "PRAGMA query_only = 1", false: "PRAGMA query_only = 0"},
		storetest.Postgres: {true: "SET default_transaction_read_only = on", false: "SET default_transaction_read_only = off"},
	} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			o.Exclusive, o.Watch = true, time.Hour // the test checks
			s := settled(t, o)
			s.OneConnection()
			s.Check(t.Context())
			if err := s.Ready(); err != nil {
				t.Fatal(err)
			}
			if err := s.Exec(t.Context(), switchTo[true]); err != nil {
				t.Fatal(err)
			}
			expect(t, s.FinishRun(t.Context(), finished(), nil), fault.StorageUnavailable)
			expect(t, s.Ready(), fault.StorageUnavailable)
			if err := s.Exec(t.Context(), switchTo[false]); err != nil {
				t.Fatal(err)
			}
			s.Check(t.Context())
			if err := s.Ready(); err != nil {
				t.Error(err)
			}
			finish(t, s, finished())
		})
	}
}
