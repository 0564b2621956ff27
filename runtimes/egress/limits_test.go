package egress_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 300_000)) })
	limits := egress.DefaultLimits()
	limits.Requests, limits.Bytes, limits.Answer = 3, 400_000, 200_000

	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Limits: limits}, s.address())
		if status, body := r.get(t, s.URL); status != 200 || len(body) != 300_000 {
			t.Fatalf("%d, %d bytes", status, len(body))
		}
		answer, err := r.client(t, nil).Get(s.URL)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		if err == nil {
			t.Error("more than the limit came through, or it ended as if it were whole")
		}
		if status, body := r.get(t, s.URL); status != 403 || !strings.Contains(body, egress.RuleBytes) {
			t.Errorf("%d %s", status, body)
		}
		r.Close()
		events := r.host.all()
		if len(events) != 3 || events[1].Rule != egress.RuleBytes || events[1].Decision != runtimes.EgressDenied || !r.Refused() {
			t.Errorf("%+v", events)
		}
	})
	t.Run("requests", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Limits: limits})
		for range 3 {
			if status, body := r.get(t, "http://x.test/"); status != 403 || !strings.Contains(body, egress.RuleHosts) {
				t.Errorf("%d %s", status, body)
			}
		}
		if status, body := r.get(t, "http://x.test/"); status != 403 || !strings.Contains(body, egress.RuleRequests) {
			t.Errorf("%d %s", status, body)
		}
		for range 3 {
			r.raw(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			r.get(t, "http://x.test/")
			r.fetch(t, `{"url":"http://x.test/"}`)
		}
		if events := r.host.all(); len(events) != 4 || !r.Refused() { // of the requests above the limit, only the first is reported
			t.Errorf("%d events", len(events))
		}
	})
	t.Run("answer of the host function", func(t *testing.T) {
		t.Parallel()
		r := open(t, egress.Options{Limits: limits}, s.address())
		if got := r.fetch(t, `{"url":"`+s.URL+`"}`); !strings.Contains(got, "larger than 195 KiB") {
			t.Errorf("%.200s", got)
		}
	})
	t.Run("bytes of the host function", func(t *testing.T) {
		t.Parallel()
		limits := limits
		limits.Answer = 1 << 20
		r := open(t, egress.Options{Limits: limits}, s.address())
		r.fetch(t, `{"url":"`+s.URL+`"}`)
		if got := r.fetch(t, `{"url":"`+s.URL+`"}`); !strings.Contains(got, egress.RuleBytes) {
			t.Errorf("%.200s", got)
		}
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		hang := make(chan struct{})
		slow := serve(t, func(http.ResponseWriter, *http.Request) { <-hang })
		defer close(hang)
		limits := limits
		limits.Exchange = 50 * time.Millisecond
		r := open(t, egress.Options{Limits: limits}, slow.address())
		if status, _ := r.get(t, slow.URL); status != 502 {
			t.Errorf("status %d", status)
		}
	})
}

// TestAnswerThatGrows checks that a response whose text would be much longer in JSON is returned as Base64.
func TestAnswerThatGrows(t *testing.T) {
	t.Parallel()
	limits := egress.DefaultLimits()
	limits.Answer = 100_000
	for _, letter := range []string{"\x00", "<", "\"", "a"} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat(letter, 100_000))
		})
		r := open(t, egress.Options{Limits: limits}, s.address())
		if got := r.fetch(t, `{"url":"`+s.URL+`"}`); len(got) > 201_000 {
			t.Errorf("%q: %d bytes", letter, len(got))
		}
	}
}
