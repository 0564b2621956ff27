package gate_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
)

// For any body, accepted text must be JSON within the decoder's limits, and the position of an error must be inside the
// text.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{}`, `[[["\"]]]"]]`, "{\n\"ä\": nope}", `"\u`, "\xff", strings.Repeat("[", 300), `{"a":"` + strings.Repeat(`{[\"`, 300) + `"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
		body, err := gate.Body(httptest.NewRecorder(), r, 1<<16)
		if err == nil {
			if body != nil && (string(body) != text || !json.Valid(body) || !utf8.Valid(body)) {
				t.Errorf("passed %q", text)
			}
			return
		}
		refused, ok := err.(*fault.Error)
		if !ok || refused.Code == fault.Internal {
			t.Fatalf("refused with %v", err)
		}
		for _, d := range refused.Details {
			if d.Code != "" { // The JSON is valid, but a value in it is not allowed.
				continue
			}
			if d.Line < 1 || d.Column < 1 || d.Line > strings.Count(text, "\n")+1 {
				t.Errorf("points at %d:%d of %q", d.Line, d.Column, text)
			}
		}
	})
}
