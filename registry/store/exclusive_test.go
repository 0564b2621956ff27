package store_test

import (
	"errors"
	"testing"

	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// Two servers with data directories of their own named one database: the second one interrupted the runs of the first,
// whose outcomes were then thrown away.
func TestADatabaseHasOneServer(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			o.Exclusive = true
			first := storetest.Reopen(t, o)
			if _, err := store.Open(t.Context(), o); !errors.Is(err, store.ErrInUse) {
				t.Fatalf("opened a second time: %v", err)
			}
			finish(t, first, finished())
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			storetest.Reopen(t, o)
		})
	}
}
