package servertest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/webhook"
)

const (
	hookSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=" // 01234567890123456789012345678901
	hookBytes  = "01234567890123456789012345678901"
)

// hook is one webhook that the receiver got.
type hook struct {
	ID, Type string
	Data     struct {
		ApprovalID, Kind, Status, Reference, RunID, URL, DecidedBy string
		Reasons                                                    []string
	}
	Body string
}

// receiver is a webhook server that fails for the first requests. It checks every signature.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	failing int // number of further requests that fail
	refused int
	got     []hook
	faults  []string
}

func receive(t *testing.T, failing int) *receiver {
	t.Helper()
	r := &receiver{failing: failing}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	seconds, _ := strconv.ParseInt(q.Header.Get("webhook-timestamp"), 10, 64)
	one := hook{ID: q.Header.Get("webhook-id"), Body: string(body)}
	at := time.Unix(seconds, 0)
	if err != nil || q.URL.Path != "/hook" || q.Header.Get("webhook-signature") != webhook.Sign([]byte(hookBytes), one.ID, at, body) || time.Since(at).Abs() > time.Hour {
		r.faults = append(r.faults, q.URL.Path+" "+q.Header.Get("webhook-signature"))
	}
	if r.failing > 0 {
		r.failing--
		r.refused++
		http.Redirect(w, q, "/elsewhere", http.StatusTemporaryRedirect) // The sender must not follow this redirect.
		return
	}
	if err := json.Unmarshal(body, &one); err != nil {
		r.faults = append(r.faults, err.Error())
	}
	r.got = append(r.got, one)
}

// await waits until the receiver has got the given number of webhooks, and returns them. It fails if one is wrong.
func (r *receiver) await(t *testing.T, count int) []hook {
	t.Helper()
	var got []hook
	servertest.Eventually(t, "the receiver gets the webhooks", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		got = append([]hook(nil), r.got...)
		return len(got) >= count
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(got) != count || len(r.faults) > 0 {
		t.Fatalf("received %+v, faults %v", got, r.faults)
	}
	return got
}

func (r *receiver) flags(more map[string]string) map[string]string {
	more["approval-webhook"], more["approval-webhook-secret"], more["approval-webhook-retry"] = r.URL+"/hook", hookSecret, "50ms"
	more["public-url"] = "https://studio.example.com"
	return more
}

func TestApprovalWebhook_FailsTwice_Delivered(t *testing.T) {
	t.Parallel()
	r := receive(t, 2)
	s := servertest.New(t, servertest.Flags(t, r.flags(map[string]string{})))
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	waiting := waitingRun(t, s.Client, "asks", map[string]any{"n": "a-private-input"})
	asked := r.await(t, 1)[0]
	if asked.Type != "approval.requested" || asked.Data.ApprovalID != waiting.ApprovalID || asked.Data.Reference != "asks@1.0.0" || asked.Data.RunID != waiting.RunID ||
		asked.Data.URL != "https://studio.example.com/studio/approvals/"+waiting.ApprovalID || len(asked.Data.Reasons) != 1 || strings.Contains(asked.Body, "a-private-input") {
		t.Errorf("received %+v", asked)
	}
	var list httpapi.DeliveryList
	servertest.Eventually(t, "the delivery is recorded", func() bool {
		list = httpapi.DeliveryList{}
		s.Want(t, 200, "GET", "/api/v1/approval-deliveries?approval="+waiting.ApprovalID, nil).Into(t, &list)
		return list.Items[0].State == registry.DeliveryDelivered
	})
	if len(list.Items) != 1 || list.Items[0].ID != asked.ID || list.Items[0].Attempts != 3 || list.Items[0].NextAt != nil {
		t.Errorf("listed are %+v", list.Items)
	}
	decide(t, s.Client, 200, waiting.ApprovalID, "deny", "", "a-private-comment")
	denied := r.await(t, 2)[1]
	if denied.Type != "approval.denied" || denied.Data.DecidedBy == "" || denied.ID == asked.ID || strings.Contains(denied.Body, "a-private") {
		t.Errorf("received %+v", denied)
	}
	said := servertest.Command(t, "", "approvals", "deliveries", waiting.ApprovalID, "--server", s.URL, "--token", s.Token)
	if said.Code != 0 || !strings.Contains(said.Stdout, "approval.requested") || !strings.Contains(said.Stdout, "approval.denied") {
		t.Errorf("exit %d, %q, %q", said.Code, said.Stdout, said.Stderr)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused != 2 {
		t.Errorf("%d requests failed", r.refused)
	}
}

// If a webhook could not be delivered before kill -9, the next server must deliver it with the same ID.
func TestApprovalWebhook_ServerKilled_Delivered(t *testing.T) {
	t.Parallel()
	r := receive(t, 1000)
	data := t.TempDir()
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.Spawn(t, data, "--token", token, "--approval-webhook", r.URL+"/hook", "--approval-webhook-secret", hookSecret, "--approval-webhook-retry", "50ms")
	p.Token = token
	p.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n", "requiresApproval": true})
	p.Publish(t, "asks", "1.0.0")
	waiting := waitingRun(t, p.Client, "asks", map[string]any{"n": 1})
	var list httpapi.DeliveryList
	servertest.Eventually(t, "an attempt fails", func() bool {
		list = httpapi.DeliveryList{}
		p.Want(t, 200, "GET", "/api/v1/approval-deliveries?state=pending", nil).Into(t, &list)
		return len(list.Items) == 1 && list.Items[0].Attempts > 0
	})
	if d := list.Items[0]; !strings.Contains(d.LastError, "redirect 307") || d.NextAt == nil {
		t.Errorf("listed is %+v", d)
	}
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	r.mu.Lock()
	r.failing = 0
	r.mu.Unlock()

	again := servertest.On(t, data, servertest.Flags(t, r.flags(map[string]string{"data": data, "token": token})))
	again.Token = token
	got := r.await(t, 1)[0]
	if got.ID != list.Items[0].ID || got.Data.ApprovalID != waiting.ApprovalID {
		t.Errorf("received %+v", got)
	}
}
