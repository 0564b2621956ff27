package webui

import (
	"net/http"
)

// notBuiltPage is the page that is served if the Studio was not built, for example because Node was missing. It has no
// script and no style of its own.
func notBuiltPage(base string) string {
	return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Atelier</title></head>
<body>
<h1>The Studio is not in this binary</h1>
<p>Run <code>make build</code> with Node 20 or newer, then start the server again.</p>
<p>The API works without it: <a href="` + base + `/docs">documentation</a>.</p>
</body>
</html>
`
}

func notBuilt(base string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusOK)
		if r.Method != http.MethodHead {
			_, _ = w.Write([]byte(notBuiltPage(base))) // The client may have disconnected.
		}
	})
}
