package egress_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes/egress"
)

// fetch calls the host function fetch and returns its result or its error as JSON text.
func (r *run) fetch(t *testing.T, args string) string {
	t.Helper()
	answer, err := r.Call(t.Context(), egress.Function, json.RawMessage(args))
	if err != nil {
		text, _ := json.Marshal(err)
		return string(text)
	}
	return string(answer)
}

// TestQueryStays checks that the proxy forwards a query string unchanged, even if net/url cannot parse it.
func TestQueryStays(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.RawQuery) })
	r := open(t, egress.Options{}, s.address())
	for _, query := range []string{"b=2&a=1", "b;a", "z=%zz&a=1", "q=a;b&x"} {
		if said := r.raw(t, "GET "+s.URL+"/?"+query+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); !strings.HasSuffix(said, "\r\n\r\n"+query) {
			t.Errorf("%s: %s", query, said)
		}
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Echo", r.Header.Get("X-Mine"))
		if r.URL.Path == "/bytes" {
			_, _ = w.Write([]byte{0xff, 0xfe, 0})
			return
		}
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.UserAgent(), body)
	})
	r := open(t, egress.Options{}, s.address())
	for args, want := range map[string]string{
		`{"url":"URL/"}`: `"text":"GET ADDRESS atelier "`,
		`{"url":"URL/","method":"post","headers":[["X-Mine","1"],["Host","evil.org"],["content-length","9"]],"body":"hi"}`: `"text":"POST ADDRESS atelier hi"`,
		`{"url":"URL/","headers":[["X-Mine","1"],["User-Agent","me"]]}`:                                                    `["x-echo","1"]`,
		`{"url":"URL/","base64":"aGk="}`: `"status":418,"statusText":"I'm a teapot"`,
		`{"url":"URL/bytes"}`:            `"base64":"//4A"`,
		`{"url":"URL/#part"}`:            `"url":"URL/"`,

		`{"url":"ftp://x/"}`:                                "http:// or https://",
		`{"url":"/x"}`:                                      "http:// or https://",
		`{"url":"http://"}`:                                 "contain a host",
		`{"url":"http://a b/"}`:                             "http:// or https://",
		`{"url":"http://u:p@x/"}`:                           "user name",
		`{"url":"URL","redirect":"x"}`:                      "redirect must be",
		`{"url":"URL","method":"CONNECT"}`:                  "is not allowed",
		`{"url":"URL","method":"A B"}`:                      "not a valid HTTP method",
		`{"url":"URL","headers":[["a b","1"]]}`:             "a header",
		`{"url":"URL","headers":[["a","1\r\nHost: evil"]]}`: "a header",
		`{"url":"URL","headers":` + many(101) + `}`:         "at most 100",
		`{"url":"URL","nonsense":1}`:                        "the arguments must be",
		`[]`:                                                "the arguments must be",
	} {
		put := strings.NewReplacer("URL", s.URL, "ADDRESS", s.address())
		if got := r.fetch(t, put.Replace(args)); !strings.Contains(got, put.Replace(want)) {
			t.Errorf("%s: %s, want %s", args, got, put.Replace(want))
		}
	}
	if got := r.fetch(t, `{"url":"http://127.0.0.1:1/"}`); !strings.Contains(got, `"code":"denied"`) || !strings.Contains(got, `"grant":{"hosts":["127.0.0.1:1"]}`) {
		t.Error(got)
	}
	if answer, err := r.Call(t.Context(), "log", nil); err != nil || string(answer) != `"other"` || r.host.calls[0] != "log" {
		t.Errorf("%s, %v", answer, err)
	}
}

func many(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`["a","b"],`, n), ",") + "]"
}
