package runtimes_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

func TestWriteJSON_SameAsMarshal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 24, 1, 2, 3, 4000, time.UTC)
	for _, data := range []string{"null", `"a\u003cb"`, `{"a":[1,2]}`, "{\n  \"a\": 1\r\n}"} {
		e := runtimes.Event{Seq: 7, At: at, Kind: runtimes.KindStdout, Data: json.RawMessage(data)}
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := e.WriteJSON(&got); err != nil || got.String() != string(want) {
			t.Errorf("%s, %v, want %s", got.String(), err, want)
		}
	}
}
