package egress_test

import (
	"compress/gzip"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

const (
	boundSecret = "s3cr3t-of-the-host"
	boundHeader = "Bearer " + boundSecret
)

// bind opens a session of a run that has a secret bound to the host in to.
func bind(t *testing.T, options egress.Options, to string, granted ...string) *run {
	t.Helper()
	return openJob(t, options, runtimes.Job{
		Workspace: "w", Capabilities: runtimes.Capabilities{Hosts: granted},
		Bound: []runtimes.BoundSecret{{Name: "KEY", Host: to, Header: "Authorization", Value: boundHeader, Secret: boundSecret}},
	})
}

// mirror repeats the Authorization header of the request in every part of the response: early hints, headers, body and
// trailers.
func mirror(w http.ResponseWriter, r *http.Request) {
	got := r.Header.Get("Authorization")
	if r.URL.Path == "/zipped" || strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		zipped := gzip.NewWriter(w)
		fmt.Fprint(zipped, got)
		_ = zipped.Close()
		return
	}
	w.Header().Set("Trailer", "X-End")
	w.Header().Set("X-Hints", got)
	w.WriteHeader(http.StatusEarlyHints)
	w.Header().Set("X-Echo", got)
	w.Header().Set("X-Base64", base64.StdEncoding.EncodeToString([]byte(got)))
	fmt.Fprintf(w, "%d values|%s|", len(r.Header.Values("Authorization")), base64.URLEncoding.EncodeToString([]byte(got)))
	for _, b := range []byte(got) { // in pieces
		_, _ = w.Write([]byte{b})
		w.(http.Flusher).Flush()
	}
	fmt.Fprintf(w, "|%s|%s", url.QueryEscape(got), strings.ToUpper(got))
	w.Header().Set("X-End", got)
}

func TestBoundSecretsReachTheirHostAndNothingElse(t *testing.T) {
	t.Parallel()
	var seen, stolen []string
	thief := serve(t, func(w http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, fmt.Sprint(r.Header, r.URL))
		fmt.Fprintf(w, "[%s]", r.Header.Get("Authorization"))
	})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/out":
			http.Redirect(w, r, thief.URL+"/?k="+url.QueryEscape(r.Header.Get("Authorization")), http.StatusFound)
		default:
			mirror(w, r)
		}
	})
	r := bind(t, egress.Options{}, s.address(), s.address(), thief.address())
	hostile := map[string]func() string{
		"proxy": func() string { return r.raw(t, "GET "+s.URL+"/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") },
		"proxy, its own header": func() string {
			return r.raw(t, "GET "+s.URL+"/ HTTP/1.1\r\nHost: x\r\nAuthorization: mine\r\nauthorization: mine\r\nAccept-Encoding: gzip\r\nConnection: close, Authorization\r\n\r\n")
		},
		"proxy, as a host header": func() string {
			return r.raw(t, "GET "+s.URL+"/ HTTP/1.1\r\nHost: "+thief.address()+"\r\nConnection: close\r\n\r\n")
		},
		"proxy, other host": func() string {
			return r.raw(t, "GET "+thief.URL+"/ HTTP/1.1\r\nHost: "+s.address()+"\r\nConnection: close\r\n\r\n")
		},
		"proxy, redirect": func() string { _, body := r.get(t, s.URL+"/out"); return body },
		"fetch":           func() string { return r.fetch(t, `{"url":"`+s.URL+`/"}`) },
		"fetch, own header": func() string {
			return r.fetch(t, `{"url":"`+s.URL+`/","headers":[["AUTHORIZATION","mine"],["accept-encoding","gzip"]]}`)
		},
		"fetch, redirect": func() string { return r.fetch(t, `{"url":"`+s.URL+`/out"}`) },
		"fetch, manual":   func() string { return r.fetch(t, `{"url":"`+s.URL+`/out","redirect":"manual"}`) },
		"fetch, other":    func() string { return r.fetch(t, `{"url":"`+thief.URL+`/"}`) },
		"fetch, zipped":   func() string { return r.fetch(t, `{"url":"`+s.URL+`/zipped"}`) },
	}
	for name, try := range hostile {
		told := try()
		for _, leak := range leaksOf(boundSecret) {
			if strings.Contains(strings.ToLower(told), strings.ToLower(leak)) {
				t.Errorf("%s tells the program %q: %s", name, leak, told)
			}
		}
		if strings.HasPrefix(name, "proxy, its own") && !strings.Contains(told, "1 values") {
			t.Errorf("%s: %s", name, told)
		}
	}
	for _, got := range seen {
		if got != boundHeader {
			t.Errorf("the host was sent %q", got)
		}
	}
	if len(seen) < 8 || len(stolen) < 3 {
		t.Errorf("%d and %d requests came", len(seen), len(stolen))
	}
	for _, got := range stolen {
		if strings.Contains(got, boundSecret) || strings.Contains(got, "Bearer") {
			t.Errorf("another host was sent %s", got)
		}
	}
	if got := r.fetch(t, `{"url":"`+s.URL+`/zipped"}`); !strings.Contains(got, "sent an invalid answer") {
		t.Error(got)
	}
}

// leaksOf returns the forms of a value that no program may see.
func leaksOf(value string) []string {
	leaks := []string{value, url.QueryEscape(value)}
	for shift := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", shift) + value))
		leaks = append(leaks, text[4:len(text)-4])
	}
	return leaks
}

func TestBoundSecretsGoOverTLSByFetchAndNotThroughTunnels(t *testing.T) {
	t.Parallel()
	var got string
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, got)
	}))
	t.Cleanup(secure.Close)
	address := secure.Listener.Addr().String()
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig
	r := bind(t, egress.Options{TLS: &tls.Config{RootCAs: roots.RootCAs, MinVersion: tls.VersionTLS12}}, address, address)
	if told := r.fetch(t, `{"url":"https://`+address+`/"}`); got != boundHeader || strings.Contains(told, boundSecret) || !strings.Contains(told, `"status":200`) {
		t.Errorf("the host was sent %q, the program %s", got, told)
	}
	if line := r.connect(t, address); !strings.Contains(line, "403 "+egress.Marker) {
		t.Error(line)
	}
	told := r.raw(t, "CONNECT "+address+" HTTP/1.1\r\nHost: x\r\n\r\n")
	if !strings.Contains(told, egress.RuleBound) || !strings.Contains(told, "KEY is bound to") || !strings.Contains(told, "ctx.fetch") {
		t.Error(told)
	}
	events := r.host.all()
	if last := events[len(events)-1]; last.Decision != runtimes.EgressDenied || last.Rule != egress.RuleBound {
		t.Errorf("%+v", last)
	}
}
