package gate_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
)

func TestBody_ManyValues_TooLarge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		code fault.Code
	}{
		"empty arrays at the bound":     {"[" + strings.Repeat("[ ],", 999_998) + "[]]", ""},
		"one more":                      {"[" + strings.Repeat("[],", 999_999) + "[]]", fault.BodyTooLarge},
		"names count":                   {"[" + strings.Repeat(`{"a":0},`, 333_333) + "0]", fault.BodyTooLarge},
		"commas in strings do not":      {`["` + strings.Repeat(`,[\",{:`, 500_000) + `"]`, ""},
		"empty objects and white space": {"[" + strings.Repeat("{ },\n", 999_999) + "1]", fault.BodyTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("POST", "/", strings.NewReader(tt.text))
			r.Header.Set("Content-Type", "application/json")
			_, err := gate.Body(httptest.NewRecorder(), r, 1<<24)
			if fault.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %q", err, tt.code)
			}
		})
	}
}

// A body of unknown length reserves memory as it grows. A rejected body is read to its end.
func TestBody_BeyondBudget_TooManyRequests(t *testing.T) {
	t.Parallel()
	b := budget.New(4 << 20)
	other := b.Open("other")
	if !other.Reserve(600<<10, 0) {
		t.Fatal("the first request was refused")
	}
	mine := b.Open("mine")
	sent := strings.NewReader(`"` + strings.Repeat("x", 700<<10) + `"`)
	r := httptest.NewRequest("POST", "/", iotest.HalfReader(sent)).WithContext(budget.With(t.Context(), mine))
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = -1
	_, err := gate.Body(httptest.NewRecorder(), r, 1<<20)
	if !fault.Is(err, fault.TooManyRequests) || err.(*fault.Error).RetryAfter == 0 || sent.Len() > 0 {
		t.Errorf("got %v with %d bytes unread", err, sent.Len())
	}
	mine.Release()
	other.Release()
	if b.Used() != 0 {
		t.Errorf("%d bytes are left", b.Used())
	}
}

func TestBody_LongNumber_Pointer(t *testing.T) {
	t.Parallel()
	for text, pointer := range map[string]string{
		`{"input":{"a":[1,` + strings.Repeat("7", 4301) + `]}}`: "/input/a/1",
		`{"input":-` + strings.Repeat("7", 4301) + `}`:          "/input",
		`[1.` + strings.Repeat("0", 4300) + `]`:                 "/0",
		`{"input":-` + strings.Repeat("7", 4300) + `}`:          "none",
		`{"input":"` + strings.Repeat("7", 5000) + `"}`:         "none",
		`[` + strings.Repeat("1,", 5000) + `1]`:                 "none",
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
		_, err := gate.Body(httptest.NewRecorder(), r, 1<<24)
		got := "none"
		if refused, ok := err.(*fault.Error); ok && refused.Code == fault.InvalidInput && len(refused.Details) == 1 {
			got = refused.Details[0].Pointer
		} else if err != nil {
			t.Error(err)
		}
		if got != pointer {
			t.Errorf("%.20s…: refused at %q, want %q", text, got, pointer)
		}
	}
}
