package packages

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
)

// TestAuthorize_OtherOrigin_NoPassword checks that the password of an index is only sent to the origin of the index. The
// address of an archive is not trusted, because it comes from a lock that another server may have written.
func TestAuthorize_OtherOrigin_NoPassword(t *testing.T) {
	t.Parallel()
	source := Source{Index: "https://ada:secret@index.example/simple"}
	for to, want := range map[string]bool{
		"https://index.example/a.whl": true, "https://index.example:443/a.whl": true,
		"http://index.example:443/a.whl": false, "http://index.example/a.whl": false, "https://index.example:8443/a.whl": false, "https://files.example/a.whl": false,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		source.authorize(request)
		if _, _, sent := request.BasicAuth(); sent != want {
			t.Errorf("%s: password sent is %v", to, sent)
		}
	}
}

// TestClient_Redirect_NoPassword follows redirects to another port and back. Only the origin of the index receives the
// credentials, and no host receives the previous address as Referer.
func TestClient_Redirect_NoPassword(t *testing.T) {
	t.Parallel()
	var index, other *httptest.Server
	sent := map[string]string{}
	note := func(r *http.Request) { sent[r.URL.Path] = r.Header.Get("Authorization") + r.Header.Get("Referer") }
	index = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if note(r); r.URL.Path == "/start" {
			http.Redirect(w, r, other.URL+"/other", http.StatusFound)
		}
		if r.URL.Path == "/endless" {
			http.Redirect(w, r, "/endless", http.StatusFound)
		}
	}))
	defer index.Close()
	other = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		http.Redirect(w, r, index.URL+"/back", http.StatusFound)
	}))
	defer other.Close()
	source := Source{Index: index.URL + "/simple", Token: "token"}
	get := func(path string) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, index.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		source.authorize(request)
		answer, err := source.client(http.DefaultTransport).Do(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	if err := get("/start"); err != nil {
		t.Fatal(err)
	}
	if sent["/start"] != "Bearer token" || sent["/other"] != "" || sent["/back"] != "Bearer token" {
		t.Errorf("sent was %v", sent)
	}
	if err := get("/endless"); err == nil || !strings.Contains(err.Error(), "redirects more than 10 times") {
		t.Errorf("an endless redirect: %v", err)
	}
}

type fixed Source

func (f fixed) Source(context.Context, string, runtimes.Ecosystem) (Source, error) {
	return Source(f), nil
}

// TestSource_TokenOfAnotherRegistry_Refused refuses an .npmrc whose token is for another registry than the one that the
// secrets of the workspace or the server name.
func TestSource_TokenOfAnotherRegistry_Refused(t *testing.T) {
	t.Parallel()
	m := New(Options{Indexes: map[runtimes.Ecosystem]string{runtimes.NPM: "https://registry.npmjs.org/"}, Hosts: []string{"npm.example:443", "npm.example.evil:443"}})
	defer m.Close()
	for _, tt := range []struct {
		npmrc, registry string
		want            bool
	}{
		{"//npm.example/:_authToken=token", "", false},
		{"//npm.example/:_authToken=token", "https://npm.example.evil/", false},
		{"//npm.example:_authToken=token", "https://npm.example.evil/", false},
		{"//npm.example/a/:_authToken=token", "https://npm.example/ab/", false},
		{"//npm.example/a/:_authToken=token", "https://npm.example/a", true},
		{"//npm.example/:_authToken=token", "https://ada@npm.example/a/", true},
		{"//registry.npmjs.org/:_authToken=token", "", true},
	} {
		own, err := ReadNPMRC(tt.npmrc)
		if err != nil {
			t.Fatal(err)
		}
		own.Index = tt.registry
		m.UseSources(fixed(own))
		_, err = m.source(t.Context(), "default", runtimes.NPM)
		if want := err == nil; want != tt.want || err != nil && !strings.Contains(err.Error(), "NPMRC") {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// TestSource_PathWithToken_Hidden checks that errors do not contain the path of an index, which may contain a token.
func TestSource_PathWithToken_Hidden(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	m := New(Options{Python: "/usr/bin/python3", UV: "/bin/true", Indexes: map[runtimes.Ecosystem]string{runtimes.PyPI: closed.URL + "/s3cr3t-t0ken/simple/"}})
	defer m.Close()
	if _, err := m.Versions(t.Context(), "default", runtimes.PyPI, "requests"); err == nil || strings.Contains(err.Error(), "t0ken") || strings.Contains(err.Error(), "/simple/") {
		t.Errorf("a closed index: %v", err)
	}
	source := Source{Index: closed.URL + "/s3cr3t-t0ken/simple/"}
	var problem *Problem
	if err := source.hide(indexFailed("GET " + closed.URL + "/s3cr3t-t0ken/simple/requests/ failed")); !errors.As(err, &problem) || strings.Contains(problem.Message, "t0ken") {
		t.Errorf("an error of the resolver: %v", err)
	}
}
