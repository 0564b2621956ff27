package node_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestFetch expects that Node's own fetch cannot connect to hosts, and that this package's fetch uses the egress proxy, as
// in the goja engine.
func TestFetch(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		case "/near":
			http.Redirect(w, r, "/echo", http.StatusTemporaryRedirect)
		case "/none":
			w.WriteHeader(http.StatusNoContent)
		default:
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Method", r.Method)
			_, _ = w.Write(append([]byte(r.Header.Get("X-A")+" "), body...))
		}
	}))
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	engine, p := newEngine(t), programs()
	for name, tt := range map[string]contract{
		"an exchange": {
			source: "export default async () => { const r = await fetch('http://ADDRESS/near', { method: 'POST', headers: { 'X-A': 'ä'.length + 'x' }, body: 'grüß' }); return [r.status, r.ok, r.redirected, r.url.endsWith('/echo'), r.headers.get('x-method'), await r.text()] }",
			output: `[200,true,true,true,"POST","1x grüß"]`,
		},
		"bytes":      {source: "export default async () => { const r = await fetch('http://ADDRESS/', { method: 'PUT', body: new Uint8Array([0, 255]) }); return [...new Uint8Array(await r.arrayBuffer())] }", output: `[32,0,255]`},
		"no content": {source: "export default async () => { const r = await fetch(new URL('http://ADDRESS/none')); return [r.status, await r.text()] }", output: `[204,""]`},
		"a redirect to elsewhere": {
			source: "export default async () => {\n  await fetch('http://ADDRESS/away')\n}", want: runtimes.ProgramError{Type: runtimes.Denied, File: "main.js", Line: 2, Remedy: "127.0.0.1:1"},
		},
		"elsewhere": {
			source: "export default async () => {\n\n  await fetch('http://192.0.2.1/')\n}", want: runtimes.ProgramError{Type: runtimes.Denied, File: "main.js", Line: 3, Remedy: "192.0.2.1:80"},
		},
		"a signal that was aborted": {
			source: "export default async () => { try { await fetch('http://ADDRESS/', { signal: AbortSignal.abort() }) } catch (e) { return e.name } }", output: `"AbortError"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.source = strings.ReplaceAll(tt.source, "ADDRESS", address)
			tt.edit = func(j *runtimes.Job) { j.Capabilities.Hosts = []string{address} }
			tt.check(t, engine, p)
		})
	}
	outcome, host := runtimetest.Run(t, engine, p.Job("import http from 'http'\nexport default () => new Promise((done, fail) => http.get('http://"+address+"/', done).on('error', fail))",
		func(j *runtimes.Job) { j.Capabilities.Hosts = []string{address} }))
	if outcome.Error == nil || outcome.Error.Type != runtimes.Denied || !strings.Contains(outcome.Error.Remedy+outcome.Error.Message, "fetch") {
		t.Errorf("%+v\n%s", outcome.Error, host.Stderr(t))
	}
}
