package servertest_test

import (
	"testing"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// On a real PostgreSQL server, published versions and runs must remain after a restart.
func TestServerOnPostgreSQL(t *testing.T) {
	t.Parallel()
	flags := map[string]string{"database": storetest.Options(t, storetest.Postgres).URL, "token": "a-token-that-is-long-enough-to-be-one"}
	data := t.TempDir()
	s := servertest.On(t, data, servertest.Flags(t, flags))
	s.Create(t, map[string]any{"name": "kept", "language": "python", "code": "def main(n): return n * 2"})
	s.Publish(t, "kept", "1.0.0")
	run := s.Execute(t, "kept", "^1", map[string]int{"n": 21})
	if string(run.Output) != "42" {
		t.Fatalf("got %+v", run)
	}
	s.Stop(t)
	again := servertest.On(t, data, servertest.Flags(t, flags))
	if got := again.Get(t, run.RunID); string(got.Output) != "42" || got.Provenance.Digest != run.Provenance.Digest {
		t.Errorf("after a restart the run is %+v", got)
	}
	if events, _ := again.Stream(t, run.RunID, "").Rest(t); kinds(events) != "status result" {
		t.Errorf("its events are %s", kinds(events))
	}
	if got := again.Execute(t, "kept", "1.0.0", map[string]int{"n": 1}); string(got.Output) != "2" {
		t.Errorf("the version ends as %+v", got)
	}
}
