package egress_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
)

func TestGrantedHostIsReached(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	m := &meter{}
	r := open(t, egress.Options{Meter: m}, s.address())
	status, body := r.get(t, s.URL+"/a?secret=1")
	if status != 200 || body != "hello from /a" {
		t.Fatalf("%d %s", status, body)
	}
	r.Close()
	events := r.host.all()
	if len(events) != 1 {
		t.Fatalf("%+v", events)
	}
	e := events[0]
	if e.Host != "127.0.0.1" || fmt.Sprint(e.Port) != s.port() || e.Decision != runtimes.EgressAllowed || e.Rule != s.address() || e.Bytes == 0 || e.Ms <= 0 {
		t.Errorf("%+v", e)
	}
	if m.counts[runtimes.EgressAllowed] != 1 || r.Refused() {
		t.Errorf("counted %v, refused %v", m.counts, r.Refused())
	}
}

// TestUngrantedIsRefused expects a response with the denied host, the rule and the smallest sufficient grant.
func TestUngrantedIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	m := &meter{}
	r := open(t, egress.Options{Meter: m}, "api.example.com:443")
	answer, err := r.client(t, nil).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var body struct{ Error runtimes.ProgramError }
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	e := body.Error
	if answer.StatusCode != 403 || !strings.HasSuffix(answer.Status, egress.Marker) || e.Type != runtimes.Denied || e.Rule != egress.RuleHosts || e.Grant == nil || e.Grant.Hosts[0] != s.address() || !strings.Contains(e.Remedy, s.address()) {
		t.Errorf("%s, %+v", answer.Status, e)
	}
	failed := runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "OSError", File: "main.py", Line: 3}
	r.Blame(&failed)
	if failed.Type != runtimes.Denied || failed.Line != 3 || failed.Rule != egress.RuleHosts || !r.Refused() {
		t.Errorf("%+v", failed)
	}
	if s.visits() != 0 || m.counts[runtimes.EgressDenied] != 1 {
		t.Errorf("%d visits, %v", s.visits(), m.counts)
	}
	if events := r.host.all(); len(events) != 1 || events[0].Decision != runtimes.EgressDenied || events[0].Rule != egress.RuleHosts || events[0].Bytes != 0 {
		t.Errorf("%+v", events)
	}
}

// TestCeiling checks that a version cannot reach a granted host above the operator's ceiling, and that the error proposes
// no grant for such a host.
func TestCeiling(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	capped := func(workspace string) hostpattern.Ceiling {
		if workspace != "w" {
			return hostpattern.Ceiling{All: true}
		}
		return hostpattern.Ceiling{}
	}
	r := open(t, egress.Options{Ceiling: capped}, s.address())
	for _, address := range []string{s.URL, "http://other.test"} {
		status, body := r.get(t, address)
		if status != 403 || !strings.Contains(body, egress.RuleCeiling) || strings.Contains(body, `"grant"`) {
			t.Errorf("%d %s", status, body)
		}
	}
}

func TestMetadataIsNotProposed(t *testing.T) {
	t.Parallel()
	r := open(t, egress.Options{})
	_, body := r.get(t, "http://169.254.169.254/latest")
	if strings.Contains(body, `"grant"`) || !strings.Contains(body, egress.RuleAddress+"metadata") {
		t.Error(body)
	}
}

func TestGrantsOfOlderRulesGrantNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, hello)
	r := open(t, egress.Options{}, "http://"+s.address(), "0x7f.1:"+s.port(), "")
	if status, body := r.get(t, s.URL); status != 403 || !strings.Contains(body, "the program has no granted hosts") {
		t.Errorf("%d %s", status, body)
	}
}

// TestSettle checks that Settle replaces the program's own description of a denied request, and uses from it only a host
// that could be granted.
func TestSettle(t *testing.T) {
	t.Parallel()
	r := open(t, egress.Options{}, "granted.test:80")
	r.Settle(nil)
	for host, want := range map[string]string{
		"api.example.com:443": "api.example.com:443 is not granted", "granted.test:80": "only with HTTP through the proxy", "no host at all": "gaierror", "x:0": "gaierror",
	} {
		e := runtimes.ProgramError{Type: runtimes.Denied, Message: "gaierror", Rule: egress.RuleNetwork, Line: 7, Grant: &runtimes.Grant{Hosts: []string{host}}}
		r.Settle(&e)
		if !strings.Contains(e.Message, want) || e.Line != 7 || strings.Contains(want, "not granted") != (e.Grant != nil) {
			t.Errorf("%s: %+v", host, e)
		}
	}
	two := runtimes.ProgramError{Type: runtimes.Denied, Grant: &runtimes.Grant{Hosts: []string{"a.test:1", "b.test:1"}}}
	if r.Settle(&two); two.Grant != nil {
		t.Errorf("%+v", two)
	}
	e := runtimes.ProgramError{Type: runtimes.RuntimeError}
	if r.Blame(&e); e.Type != runtimes.RuntimeError { // the program sent no request
		t.Errorf("%+v", e)
	}
}

// TestClose checks that Close ends all exchanges of the run and waits for them.
func TestClose(t *testing.T) {
	t.Parallel()
	arrived, hang := make(chan struct{}, 3), make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	defer close(hang)
	r := open(t, egress.Options{}, s.address())
	var wait sync.WaitGroup
	wait.Go(func() {
		if answer, err := r.client(t, nil).Get(s.URL); err == nil {
			_ = answer.Body.Close()
		}
	})
	wait.Go(func() { _, _ = r.Call(context.Background(), egress.Function, json.RawMessage(`{"url":"`+s.URL+`"}`)) })
	wait.Go(func() {
		r.raw(t, "CONNECT "+s.address()+" HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	})
	for range 3 {
		<-arrived
	}
	r.Close()
	wait.Wait()
	if events := r.host.all(); len(events) != 3 {
		t.Errorf("%+v", events)
	}
	if _, err := r.Call(t.Context(), egress.Function, json.RawMessage(`{"url":"`+s.URL+`"}`)); err == nil {
		t.Error("a closed session answers")
	}
	r.Serve(nil) // no effect
}
