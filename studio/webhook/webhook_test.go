package webhook_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/studio/webhook"
)

// These are the example in the specification, and the values from its libraries.
func TestSign_ExampleOfTheSpecification(t *testing.T) {
	t.Parallel()
	secret, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := webhook.Sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("signed %s", got)
	}
}

// memory is a store of deliveries.
type memory struct {
	mu  sync.Mutex
	all map[string]registry.Delivery
}

func (m *memory) DueDeliveries(_ context.Context, now time.Time, _ int) (due []registry.Delivery, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.all {
		if d.State == registry.DeliveryPending && !d.NextAt.After(now) {
			due = append(due, d)
		}
	}
	return due, nil
}

func (m *memory) SaveDelivery(_ context.Context, d registry.Delivery) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[d.ID] = d
	return nil
}

// clock is a clock that the test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

var (
	start   = time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	secrets = [][]byte{[]byte("the-first-secret-of-the-receiver"), []byte("a-former-secret-of-the-receiver-")}
)

func request() registry.Approval {
	return registry.Approval{
		ID: "a1", Workspace: "default", Kind: registry.RunApproval, Status: registry.ApprovalPending, AgentID: "agent", Agent: "weather", Version: "1.0.0", RunID: "r1",
		Reasons: []string{"The version has side effects."}, Input: []byte(`{"password":"hunter2"}`), Request: []byte(`{"limits":{}}`),
		Requester: registry.Actor{ID: "me", Name: "Ada"}, CreatedAt: start, ExpiresAt: start.Add(time.Hour),
	}
}

// receiver is a real HTTP server. It checks each signature, and answers with the next status of a list.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	ids      []string
	bodies   []string
	faults   []string
}

func receive(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		seconds, _ := strconv.ParseInt(q.Header.Get("webhook-timestamp"), 10, 64)
		id := q.Header.Get("webhook-id")
		want := []string{webhook.Sign(secrets[0], id, time.Unix(seconds, 0), body), webhook.Sign(secrets[1], id, time.Unix(seconds, 0), body)}
		if err != nil || q.Method != "POST" || q.Header.Get("content-type") != "application/json" || q.Header.Get("webhook-signature") != strings.Join(want, " ") {
			r.faults = append(r.faults, q.Method+" "+q.Header.Get("webhook-signature"))
		}
		r.ids, r.bodies = append(r.ids, id), append(r.bodies, string(body))
		status := r.statuses[min(len(r.ids), len(r.statuses))-1]
		if status == 302 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

func open(t *testing.T, url string, c *clock) (*webhook.Service, *memory) {
	t.Helper()
	sender, err := webhook.Through(egress.New(egress.Options{}), url)
	if err != nil {
		t.Fatal(err)
	}
	d := webhook.Notice("http://studio.example.com/studio", func() string { return "d1" }, c.now)(request())
	m := &memory{all: map[string]registry.Delivery{d.ID: d}}
	return webhook.New(webhook.Options{Store: m, Sender: sender, URL: url, Secrets: secrets, Retry: 5 * time.Second, Log: slog.New(slog.DiscardHandler), Now: c.now}), m
}

func TestDeliver_FailsTwice_DeliveredThen(t *testing.T) {
	t.Parallel()
	r, c := receive(t, 500, 302, 204), &clock{start}
	s, m := open(t, r.URL+"/hook", c)
	s.Deliver(t.Context())
	first := m.all["d1"]
	if first.State != registry.DeliveryPending || first.Attempts != 1 || !first.NextAt.Equal(start.Add(5*time.Second)) || !strings.Contains(first.LastError, "status 500") {
		t.Errorf("after the first attempt: %+v", first)
	}
	s.Deliver(t.Context()) // The delivery is not due yet.
	c.at = c.at.Add(5 * time.Second)
	s.Deliver(t.Context())
	second := m.all["d1"]
	if second.Attempts != 2 || !second.NextAt.Equal(c.at.Add(20*time.Second)) || !strings.Contains(second.LastError, "redirect 302") {
		t.Errorf("after the second attempt: %+v", second)
	}
	c.at = c.at.Add(20 * time.Second)
	s.Deliver(t.Context())
	s.Deliver(t.Context())
	last := m.all["d1"]
	if last.State != registry.DeliveryDelivered || last.Attempts != 3 || last.NextAt != nil || last.LastError != "" || !last.DeliveredAt.Equal(c.at) {
		t.Errorf("at the end: %+v", last)
	}
	if len(r.ids) != 3 || r.ids[0] != "d1" || r.ids[2] != "d1" || r.bodies[0] != r.bodies[2] || len(r.faults) > 0 {
		t.Errorf("received %v %v %v", r.ids, r.bodies, r.faults)
	}
	var sent struct {
		Type string
		Data map[string]any
	}
	if err := json.Unmarshal([]byte(r.bodies[0]), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Type != "approval.requested" || sent.Data["reference"] != "weather@1.0.0" || sent.Data["url"] != "http://studio.example.com/studio/approvals/a1" || strings.Contains(r.bodies[0], "hunter2") {
		t.Errorf("sent %s", r.bodies[0])
	}
}

func TestDeliver_GivenUp(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ status, attempts int }{"always failing": {503, 10}, "gone": {410, 1}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := receive(t, tt.status), &clock{start}
			s, m := open(t, r.URL, c)
			for range 20 {
				s.Deliver(t.Context())
				c.at = c.at.Add(6 * time.Hour)
			}
			if d := m.all["d1"]; d.State != registry.DeliveryFailed || d.Attempts != tt.attempts || d.NextAt != nil || len(r.ids) != tt.attempts {
				t.Errorf("it is %+v after %d requests", d, len(r.ids))
			}
		})
	}
}

// Egress rules apply to webhooks too: the addresses of metadata services are never reached.
func TestDeliver_RefusedAddress_NotSent(t *testing.T) {
	t.Parallel()
	c := &clock{start}
	s, m := open(t, "http://169.254.169.254/hook", c)
	s.Deliver(t.Context())
	if d := m.all["d1"]; d.State != registry.DeliveryPending || d.Attempts != 1 || !strings.Contains(d.LastError, "169.254.169.254") {
		t.Errorf("it is %+v", d)
	}
}

func TestDeliver_ServerEnds_AttemptDoesNotCount(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &clock{start}
	s, m := open(t, "http://127.0.0.1:1", c)
	s.Sender = ending{cancel}
	s.Deliver(ctx)
	if d := m.all["d1"]; d.State != registry.DeliveryPending || d.Attempts != 0 {
		t.Errorf("it is %+v", d)
	}
}

// ending is a sender. The server stops while it sends a request.
type ending struct{ cancel context.CancelCauseFunc }

func (e ending) Send(ctx context.Context, _ string, _ [][2]string, _ []byte) (int, error) {
	e.cancel(errors.New("the server ends"))
	<-ctx.Done()
	return 0, ctx.Err()
}
