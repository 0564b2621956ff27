package servertest_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/server/servertest"
)

// startOPA starts a real Open Policy Agent with a policy and returns its address.
func startOPA(t *testing.T, policy string) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(servertest.Root(t), "scripts", "opa.sh")).Output()
	program := strings.TrimSpace(string(out))
	if err != nil || program == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no Open Policy Agent; run scripts/opa.sh build")
		}
		t.Skip("there is no Open Policy Agent; run scripts/opa.sh build")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "run", "--server", "--addr", address, "--disable-telemetry", "--log-level", "error")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // Ignore the error: the process may have ended.
		_ = cmd.Wait()
	})
	url := "http://" + address
	servertest.Eventually(t, "the policy service listens", func() bool {
		answer, err := http.Get(url + "/health")
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == 200
	})
	setPolicy(t, url, policy)
	return url
}

func setPolicy(t *testing.T, url, policy string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/v1/policies/soma", strings.NewReader(policy))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("policy: %v %+v", err, answer)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
}

const (
	denyOne = "package soma\n\ndefault allow := false\n\nallow if {\n\tinput.action == \"tool.execute\"\n\tinput.resource != \"denied\"\n}\n"
	// allowAPI is a policy that allows a run only with the facts about the program that the first request contained.
	allowAPI = "package soma\n\ndefault allow := false\n\nallow if {\n\tinput.context.metadata.language == \"javascript\"\n\tinput.context.metadata.trigger == \"api\"\n}\n"
	noRule   = "package other\n\nallow := true\n"
)

// A real policy service denies one agent. The request is stored and submitted again after the policy has changed. It
// must run once.
func TestPolicyService_Denied_ResubmittedOnce(t *testing.T) {
	t.Parallel()
	url := startOPA(t, denyOne)
	s := servertest.New(t, servertest.Flags(t, map[string]string{"policy-url": url, "policy-cache": "0s"}))
	for _, name := range []string{"denied", "fine"} {
		s.Create(t, map[string]any{"name": name, "language": "javascript", "code": "export default ({n}) => n + 1"})
		s.Publish(t, name, "1.0.0")
	}
	if run := s.Execute(t, "fine", "1.0.0", map[string]int{"n": 1}); string(run.Output) != "2" {
		t.Errorf("the allowed agent ran as %+v", run)
	}
	blocked := s.Want(t, 200, "POST", "/api/v1/code-agents/denied/execute", `{"version":"1.0.0","input":{"n":41}}`).Run(t)
	if blocked.Status != "blocked" || blocked.Error == nil || blocked.Error.Rule != "policy" || !strings.Contains(blocked.Error.Message, "denies this run") || blocked.Error.Remedy == "" {
		t.Fatalf("the denied agent ran as %+v %+v", blocked, blocked.Error)
	}
	var list httpapi.BlockedList
	s.Want(t, 200, "GET", "/api/v1/blocked", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].RunID != blocked.RunID || list.Items[0].Status != "blocked" || !strings.HasPrefix(list.Items[0].Policy, "sha256:") {
		t.Fatalf("kept are %+v", list.Items)
	}
	path := "/api/v1/blocked/" + list.Items[0].ID
	if p := s.Want(t, 403, "POST", path, `{"action":"resubmit"}`).Problem(t); !strings.Contains(p.Detail, "still blocked") {
		t.Errorf("refused with %+v", p)
	}
	var approvals struct {
		Items   []any
		Pending int
	}
	s.Want(t, 200, "GET", "/api/v1/approvals", nil).Into(t, &approvals)
	if len(approvals.Items) != 0 || approvals.Pending != 0 {
		t.Errorf("a blocked request is among the approvals: %+v", approvals)
	}
	s.Want(t, 404, "POST", "/api/v1/approvals/"+list.Items[0].ID, `{"decision":"approve"}`)

	setPolicy(t, url, allowAPI)
	var done httpapi.BlockedRequest
	s.Want(t, 200, "POST", path, `{"action":"resubmit"}`).Into(t, &done)
	if done.Status != "resubmitted" || done.Resubmitted == "" {
		t.Fatalf("submitted: %+v", done)
	}
	if run := ended(t, s.Client, done.Resubmitted); run.Status != "succeeded" || string(run.Output) != "42" {
		t.Errorf("the run is %+v", run)
	}
	s.Want(t, 409, "POST", path, `{"action":"resubmit"}`)
	var runs struct{ Items []servertest.Run }
	s.Want(t, 200, "GET", "/api/v1/runs?agent=denied", nil).Into(t, &runs)
	if len(runs.Items) != 2 {
		t.Errorf("there are %d runs", len(runs.Items))
	}

	setPolicy(t, url, noRule)
	undefined := s.Want(t, 200, "POST", "/api/v1/code-agents/fine/execute", `{"version":"1.0.0","input":{"n":1}}`).Run(t)
	if undefined.Status != "blocked" || !strings.Contains(undefined.Error.Message, "no rule") {
		t.Errorf("without the rule it ran as %+v", undefined)
	}
	s.Want(t, 200, "GET", "/api/v1/blocked", nil).Into(t, &list)
	said := servertest.Command(t, "", "blocked", "drop", list.Items[0].ID, "--server", s.URL, "--token", s.Token)
	if said.Code != 0 || !strings.Contains(said.Stderr, "dropped") {
		t.Errorf("exit %d, %q", said.Code, said.Stderr)
	}
}

// If the policy service is down, every run is denied, and the remedy gives this reason.
func TestPolicyService_Down_Denied(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"policy-url": "http://127.0.0.1:1"}))
	run := s.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": "javascript", "code": "export default () => 1"}).Run(t)
	if run.Status != "blocked" || run.Error == nil || !strings.Contains(run.Error.Remedy, "--policy-url") {
		t.Errorf("it ran as %+v %+v", run, run.Error)
	}
}

// If the policy service is too slow or its answer is malformed, every run is denied. The remedy gives the reason, and the
// request is stored so that it can be submitted again.
func TestPolicyService_SlowOrNonsense_DeniedAndKept(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		remedy string
	}{
		"slow":     {func(http.ResponseWriter, *http.Request) { <-over }, "it did not answer within"},
		"nonsense": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "not valid JSON"},
	} {
		policy := httptest.NewServer(tt.answer)
		t.Cleanup(policy.Close)
		s := servertest.New(t, servertest.Flags(t, map[string]string{"policy-url": policy.URL}))
		s.Create(t, map[string]any{"name": "weather", "language": "javascript", "code": "export default () => 1"})
		s.Publish(t, "weather", "1.0.0")
		run := s.Want(t, 200, "POST", "/api/v1/code-agents/weather/execute", `{"version":"1.0.0","input":{}}`).Run(t)
		if run.Status != "blocked" || run.Success || run.Error == nil || run.Error.Type != "denied" || !strings.Contains(run.Error.Remedy, tt.remedy) {
			t.Errorf("%s: it ran as %+v %+v", name, run, run.Error)
		}
		var list httpapi.BlockedList
		s.Want(t, 200, "GET", "/api/v1/blocked", nil).Into(t, &list)
		if len(list.Items) != 1 || list.Items[0].RunID != run.RunID || list.Items[0].Status != "blocked" || !strings.Contains(list.Items[0].Remedy, tt.remedy) {
			t.Errorf("%s: kept are %+v", name, list.Items)
		}
	}
	close(over)
}

// A blocked request must expire if it is not submitted again.
func TestPolicyService_BlockedRequest_Expires(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	s := servertest.New(t, servertest.Flags(t, map[string]string{"policy-url": "http://127.0.0.1:1", "policy-keep": "24h"}), func(o *app.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	s.Create(t, map[string]any{"name": "weather", "language": "javascript", "code": "export default () => 1"})
	s.Publish(t, "weather", "1.0.0")
	s.Want(t, 200, "POST", "/api/v1/code-agents/weather/execute", `{"version":"1.0.0","input":{}}`)
	var list httpapi.BlockedList
	s.Want(t, 200, "GET", "/api/v1/blocked", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].Status != "blocked" {
		t.Fatalf("kept are %+v", list.Items)
	}
	later.Store(int64(25 * time.Hour))
	path := "/api/v1/blocked/" + list.Items[0].ID
	if p := s.Want(t, 409, "POST", path, `{"action":"resubmit"}`).Problem(t); !strings.Contains(p.Detail, "expired") {
		t.Errorf("refused with %+v", p)
	}
	servertest.Eventually(t, "the request expires", func() bool {
		s.Want(t, 200, "GET", "/api/v1/blocked?all=true", nil).Into(t, &list)
		return len(list.Items) == 1 && list.Items[0].Status == "expired"
	})
	s.Want(t, 409, "POST", path, `{"action":"resubmit"}`)
}
