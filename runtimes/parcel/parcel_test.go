package parcel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/parcel"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestRead_MarkedLines_AreCallsWhereverTheyAreCut splits output with calls into pieces of every length. The calls and the
// other output must be the same each time.
func TestRead_MarkedLines_AreCallsWhereverTheyAreCut(t *testing.T) {
	t.Parallel()
	job := runtimetest.Python().Job("")
	packed, failed, err := parcel.Pack(t.Context(), job, parcel.Folders{}, nil)
	if failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	var brief struct{ Mark string }
	if err := json.Unmarshal(packed.Files["job.json"], &brief); err != nil {
		t.Fatal(err)
	}
	mark := "\x00" + brief.Mark
	text := mark + `{"call":"start"}` + "\n" + "one\n\x00two " + mark + `{"call":"log","args":{"level":"info","message":"x"}}` + "\nthree" +
		mark + "no JSON\n" + mark + `{"call":"callTool","args":{}}` + "\n" + mark + `{"call":"start"}` + "\n\x00"
	for size := 1; size <= len(text); size++ {
		host, started := runtimetest.NewHost(), 0
		relay := worker.NewRelay(job, host)
		reader := packed.Read(relay, host)
		reader.Started = func() { started++ }
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			if !reader.Stdout(t.Context(), []byte(rest[:min(size, len(rest))])) {
				t.Fatal("over the limit")
			}
		}
		outcome := reader.Outcome([]byte(`{"output":1}`), nil)
		relay.Close()
		logs := 0
		for _, e := range host.Events() {
			if e.Kind == runtimes.KindLog {
				logs++
			}
		}
		if got := host.Stdout(t); got != "one\n\x00two three\x00" || logs != 1 || started != 1 || string(outcome.Output) != "1" {
			t.Fatalf("pieces of %d: %q, %d logs, %d starts, %+v", size, got, logs, started, outcome)
		}
	}
}

// TestRead_EndlessMarkedLine_Dropped checks that the size of a marked line without an end is limited.
func TestRead_EndlessMarkedLine_Dropped(t *testing.T) {
	t.Parallel()
	job := runtimetest.Python().Job("")
	packed, failed, err := parcel.Pack(t.Context(), job, parcel.Folders{}, nil)
	if failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	var brief struct{ Mark string }
	if err := json.Unmarshal(packed.Files["job.json"], &brief); err != nil {
		t.Fatal(err)
	}
	host := runtimetest.NewHost()
	relay := worker.NewRelay(job, host)
	packed.Read(relay, host).Stdout(t.Context(), []byte("\x00"+brief.Mark+strings.Repeat("x", 2<<20)))
	relay.Close()
	if host.Dropped(t) == 0 {
		t.Error("nothing was dropped")
	}
}

// TestRead_MarkedLinesWithoutEnd_OverTheLimit checks that endless forged marked lines exceed a limit, even if they are not
// valid calls.
func TestRead_MarkedLinesWithoutEnd_OverTheLimit(t *testing.T) {
	t.Parallel()
	job := runtimetest.Python().Job("")
	packed, failed, err := parcel.Pack(t.Context(), job, parcel.Folders{}, nil)
	if failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	var brief struct{ Mark string }
	if err := json.Unmarshal(packed.Files["job.json"], &brief); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`{"call":"none","args":"` + strings.Repeat("x", 1<<19) + "\"}\n", strings.Repeat("x", 2<<20)} {
		host := runtimetest.NewHost()
		relay := worker.NewRelay(job, host)
		reader, pieces := packed.Read(relay, host), 0
		for pieces < 1000 && reader.Stdout(t.Context(), []byte("\x00"+brief.Mark+line)) {
			pieces++
		}
		relay.Close()
		if pieces == 1000 {
			t.Errorf("%d pieces of %d bytes are within the limit", pieces, len(line))
		}
	}
}
