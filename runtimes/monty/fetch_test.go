package monty_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestFetch requests granted and other hosts, and checks all attributes and methods of a response.
func TestFetch(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/raw" {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write([]byte{0xff, 0})
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("X-Twice", "1")
		w.Header().Add("X-Twice", "2")
		_, _ = io.WriteString(w, `{"method":"`+r.Method+`","a":"`+r.Header.Get("A")+`","n":12345678901234567890,"body":`+string(body)+`}`)
	}))
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	engine, p := newEngine(t), programs()
	granted := func(j *runtimes.Job) { j.Capabilities.Hosts = []string{address} }
	source := strings.ReplaceAll(`def main(ctx):
    r = ctx.fetch("http://ADDRESS/x", method="POST", headers={"A": "b"}, body={"q": 1})
    raw = ctx.fetch("http://ADDRESS/raw")
    missing = wrong = ""
    try:
        r.nothing()
    except AttributeError as e:
        missing = str(e)
    try:
        ctx.fetch("http://ADDRESS/", timeout=1)
    except TypeError as e:
        wrong = str(e)
    return [r.ok, r.status, r.headers["x-twice"], r.json(), r.text()[:9], list(raw.bytes()), missing, wrong]
`, "ADDRESS", address)
	outcome, _ := runtimetest.Run(t, engine, p.Job(source, granted))
	const want = `[true,200,"1, 2",{"method":"POST","a":"b","n":12345678901234567890,"body":{"q":1}},"{\"method\"",[255,0],"'Response' object has no attribute 'nothing'","ctx.fetch has no parameter \"timeout\""]`
	if string(outcome.Output) != want {
		t.Errorf("%s, %+v", outcome.Output, outcome.Error)
	}
	outcome, _ = runtimetest.Run(t, engine, p.Job("def main(ctx):\n    ctx.fetch('http://192.0.2.1/')", granted))
	if e := outcome.Error; e == nil || e.Type != runtimes.Denied || e.Line != 2 || e.Grant == nil || !strings.Contains(e.Remedy, "192.0.2.1:80") {
		t.Errorf("%+v", e)
	}
}
