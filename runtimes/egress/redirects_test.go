package egress_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes/egress"
)

// TestRedirectsPassTheSameSession checks that each redirect is subject to the rules of the session, for a client that uses
// the proxy and for the host function.
func TestRedirectsPassTheSameSession(t *testing.T) {
	t.Parallel()
	forbidden := serve(t, hello)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/out":
			http.Redirect(w, r, forbidden.URL+"/", http.StatusFound)
		case "/user":
			http.Redirect(w, r, "http://u:p@"+r.Host+"/end", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/in":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		default:
			hello(w, r)
		}
	})
	r := open(t, egress.Options{}, s.address())
	if status, body := r.get(t, s.URL+"/in"); status != 200 || body != "hello from /end" {
		t.Errorf("%d %s", status, body)
	}
	if status, body := r.get(t, s.URL+"/out"); status != 403 || !strings.Contains(body, egress.RuleHosts) {
		t.Errorf("%d %s", status, body)
	}
	for path, want := range map[string]string{
		"/in": `"redirected":true`, "/out": egress.RuleHosts, "/user": "is unreachable", "/file": egress.RuleForm, "/loop": "is unreachable",
	} {
		if got := r.fetch(t, `{"url":"`+s.URL+path+`"}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := r.fetch(t, `{"url":"`+s.URL+`/out","redirect":"manual"}`); !strings.Contains(got, `"status":302`) {
		t.Error(got)
	}
	if got := r.fetch(t, `{"url":"`+s.URL+`/in","redirect":"error"}`); !strings.Contains(got, "is unreachable") {
		t.Error(got)
	}
	if forbidden.visits() > 0 {
		t.Error("a redirect led out")
	}
}

// TestRedirectsSendNoSecrets checks that after a redirect to another origin the request has neither the credentials for
// the first origin nor a Referer. Another port of the same host is another origin. A redirect back restores nothing.
func TestRedirectsSendNoSecrets(t *testing.T) {
	t.Parallel()
	tell := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "[%s|%s|%s|%s]", r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("Referer"), r.Header.Get("X-Kept"))
	}
	var back string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, back, http.StatusFound)
			return
		}
		tell(w, r)
	})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/out":
			http.Redirect(w, r, other.URL+"/end", http.StatusFound)
		case "/around":
			http.Redirect(w, r, other.URL+"/back", http.StatusFound)
		case "/in":
			http.Redirect(w, r, "/end", http.StatusFound)
		default:
			tell(w, r)
		}
	})
	back = s.URL + "/end"
	r := open(t, egress.Options{}, s.address(), other.address())
	const headers = `[["authorization","A"],["cookie","C"],["x-kept","K"]]`
	for path, want := range map[string]string{"/in": "[A|C||K]", "/out?secret": "[|||K]", "/around": "[|||K]"} {
		if got := r.fetch(t, `{"url":"`+s.URL+path+`","headers":`+headers+`}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := r.fetch(t, `{"url":"`+s.URL+`/out","headers":[["referer","http://x.test/secret"]]}`); !strings.Contains(got, "[|||]") {
		t.Error(got)
	}
	if got := r.fetch(t, `{"url":"`+s.URL+`/in","headers":[["referer","http://x.test/"]]}`); !strings.Contains(got, "[||http://x.test/|]") {
		t.Error(got)
	}
}
