package recorder_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/recorder"
)

// Secrets must be redacted in events, in the tails of the output, across pieces of output, and in interleaved streams.
func TestSecretsAreRedactedBeforeAnybodyReads(t *testing.T) {
	t.Parallel()
	r := recorder.New(time.Now, redact.New([]string{"hunter2-and-more"}))
	r.Emit(runtimes.Text(runtimes.KindStdout, "one hunter2-"))
	r.Emit(runtimes.Text(runtimes.KindStderr, "hunter2-and-more\n"))
	if out, _, _ := r.Output(); out != "one " {
		t.Errorf("%q is told before it is known what it is", out)
	}
	r.Emit(runtimes.Text(runtimes.KindStdout, "and-more two hunter2"))
	r.Emit(runtimes.Event{Kind: runtimes.KindLog, Data: json.RawMessage(`{"level":"info","message":"hunter2-and-\u006dore","fields":{"hunter2-and-more":1}}`)})
	r.EndOutput()
	r.Close(runtimes.KindResult, func() json.RawMessage { return json.RawMessage(`{}`) })
	out, errs, truncated := r.Output()
	if out != "one *** two hunter2" || errs != "***\n" || truncated {
		t.Errorf("%q %q %v", out, errs, truncated)
	}
	told := ""
	for _, e := range r.Drain() {
		told += string(e.Kind) + string(e.Data) + "\n"
	}
	want := "stdout\"one \"\nstderr\"***\\n\"\nstdout\"*** two \"\nlog{\"level\":\"info\",\"message\":\"***\",\"fields\":{\"***\":1}}\nstdout\"hunter2\"\nresult{}\n"
	if told != want {
		t.Errorf("%s, want\n%s", told, want)
	}
}

// Text that was published late must not make an event larger than the limit.
func TestRedactedOutputKeepsItsBounds(t *testing.T) {
	t.Parallel()
	r := recorder.New(time.Now, redact.New([]string{strings.Repeat("ab", 20) + "c"}))
	for range 3 {
		r.Emit(runtimes.Text(runtimes.KindStdout, strings.Repeat("ü", runtimes.MaxChunk/2-20)+strings.Repeat("ab", 20)))
	}
	r.EndOutput()
	total := 0
	for _, e := range r.Drain() {
		var text string
		if err := json.Unmarshal(e.Data, &text); err != nil || len(text) > runtimes.MaxChunk || strings.Contains(text, "\uFFFD") {
			t.Errorf("%d bytes, %v", len(text), err)
		}
		total += len(text)
	}
	if total != 3*runtimes.MaxChunk {
		t.Errorf("%d bytes of %d are left", total, 3*runtimes.MaxChunk)
	}
}
