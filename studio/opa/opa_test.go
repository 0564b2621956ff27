package opa_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/studio/opa"
)

func TestAsk_AnythingButTrue_Denied(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status  int
		body    string
		allowed bool
		says    string
	}{
		"allowed":     {200, `{"result":true}`, true, ""},
		"denied":      {200, `{"result":false}`, false, "denies this run"},
		"undefined":   {200, `{}`, false, "no rule at /v1/data/soma/allow"},
		"null":        {200, `{"result":null}`, false, "no rule"},
		"text":        {200, `{"result":"true"}`, false, "neither true nor false"},
		"object":      {200, `{"result":{"allow":true}}`, false, "neither true nor false"},
		"nonsense":    {200, `<html>`, false, "not valid JSON"},
		"too large":   {200, `{"result":true,"more":"` + strings.Repeat("x", 70_000) + `"}`, false, "too large"},
		"error":       {500, `{"result":true}`, false, "500"},
		"redirection": {302, `{"result":true}`, false, "302"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/v1/data/soma/allow")
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			t.Cleanup(server.Close)
			s := opa.New(opa.Options{URL: server.URL, Path: "/v1/data/soma/allow", Now: time.Now})
			t.Cleanup(s.Close)
			a := s.Ask(t.Context(), opa.Question{Resource: "weather"})
			if a.Allowed != tt.allowed || !a.Allowed && (!strings.Contains(a.Reason+a.Remedy, tt.says) || a.Remedy == "") {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestAsk_ServerDown_Denied(t *testing.T) {
	t.Parallel()
	const address = "127.0.0.1:1" // no server listens on this port; the port of a closed test server may be in use again
	s := opa.New(opa.Options{URL: "http://" + address, Path: "/v1/data/soma/allow", TTL: time.Hour, Now: time.Now})
	if a := s.Ask(t.Context(), opa.Question{}); a.Allowed || !strings.Contains(a.Remedy, "--policy-url is correct: it cannot be reached.") || strings.Contains(a.Remedy, address) {
		t.Errorf("%+v", a)
	}
}

func TestAsk_Wire_Cached(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var body struct{ Input opa.Question }
		err := json.NewDecoder(r.Body).Decode(&body)
		q := body.Input
		if err != nil || r.URL.Path != "/v1/data/soma/allow" || q.Tenant != "default" || q.Persona != "me" || q.Action != "tool.execute" || q.Resource != "weather" || string(q.Context.Args) != `{"a":1}` {
			t.Errorf("asked %s %+v, %v", r.URL.Path, q, err)
		}
		_, _ = w.Write([]byte(`{"result":true}`))
	}))
	t.Cleanup(server.Close)
	now := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	s := opa.New(opa.Options{URL: server.URL, Path: "v1/data/soma/allow", TTL: 2 * time.Second, Now: func() time.Time { return now }})
	t.Cleanup(s.Close)
	q := opa.Question{Tenant: "default", Persona: "me", Action: opa.ExecuteAction, Resource: "weather", Context: opa.Context{Args: json.RawMessage(`{"a":1}`)}}
	for range 3 {
		if a := s.Ask(t.Context(), q); !a.Allowed {
			t.Fatalf("%+v", a)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times within the time to live", asked.Load())
	}
	now = now.Add(2 * time.Second)
	s.Ask(t.Context(), q)
	if asked.Load() != 2 {
		t.Errorf("asked %d times after it", asked.Load())
	}
}

// A service that does not answer in time counts as a denial, and the remedy states this.
func TestAsk_SlowServer_Denied(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	s := opa.New(opa.Options{URL: server.URL, Path: "/v1/data/soma/allow", TTL: time.Hour, Now: time.Now})
	t.Cleanup(s.Close)
	if a := s.Ask(t.Context(), opa.Question{}); a.Allowed || !strings.Contains(a.Remedy, "it did not answer within 2s") {
		t.Errorf("%+v", a)
	}
}
