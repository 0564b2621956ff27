package servertest_test

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// metricOf returns the value of a metric without labels, and whether it has a help text.
func metricOf(t *testing.T, s *servertest.Server, name string) (value float64, helped bool) {
	t.Helper()
	text := s.Want(t, 200, "GET", "/metrics", nil).Body
	found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s is missing", name)
	}
	value, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value, regexp.MustCompile(`(?m)^# HELP ` + name + ` \S.+\.`).Match(text)
}

// The metrics must show operators how much disk space is left and how old the runs are.
func TestMetrics_StorageOfServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := servertest.On(t, data, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	run := first.Script(t, "output 1").Run(t)
	first.Stop(t)
	s := servertest.On(t, data, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	servertest.Eventually(t, "the database is measured", func() bool {
		oldest, _ := metricOf(t, s, "atelier_oldest_run_timestamp_seconds")
		return oldest > 1e9
	})
	s.Get(t, run.RunID)
	for name, least := range map[string]float64{
		"atelier_database_bytes": 1 << 16, "atelier_data_disk_free_bytes": 1 << 20, "atelier_data_disk_bytes": 1 << 20, "atelier_database_writable": 1,
		"atelier_runs_waiting_for_database": 0, "atelier_oldest_run_timestamp_seconds": 1e9,
	} {
		if value, helped := metricOf(t, s, name); value < least || !helped {
			t.Errorf("%s is %g, described: %v", name, value, helped)
		}
	}
	free, _ := metricOf(t, s, "atelier_data_disk_free_bytes")
	if size, _ := metricOf(t, s, "atelier_data_disk_bytes"); free > size {
		t.Errorf("%g of %g bytes are free", free, size)
	}
}
