package servertest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/servertest"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/approvals"
)

// setGate changes some settings of the gate.
func setGate(t *testing.T, c *servertest.Client, change map[string]any, who ...servertest.Headers) {
	t.Helper()
	var settings map[string]any
	c.Want(t, 200, "GET", "/api/v1/gate", nil, who...).Into(t, &settings)
	for name, value := range change {
		settings[name] = value
	}
	c.Want(t, 200, "PUT", "/api/v1/gate", settings, who...)
}

// asked is the answer about a run or a publication that waits for an approval.
type asked struct {
	RunID, ApprovalID, Status, Message string
	Reasons                            json.RawMessage
	Verdict                            registry.Verdict
}

func waitingRun(t *testing.T, c *servertest.Client, agent string, input any) asked {
	t.Helper()
	var a asked
	answer := c.Want(t, 202, "POST", "/api/v1/code-agents/"+agent+"/execute", map[string]any{"version": "latest", "input": input})
	answer.Into(t, &a)
	if a.Status != "awaiting_approval" || a.ApprovalID == "" || answer.Header.Get("Location") != "/api/v1/runs/"+a.RunID {
		t.Fatalf("answered %s with Location %s", answer.Body, answer.Header.Get("Location"))
	}
	return a
}

func ended(t *testing.T, c *servertest.Client, id string) servertest.Run {
	t.Helper()
	var run servertest.Run
	servertest.Eventually(t, "the run ends", func() bool {
		run = c.Want(t, 200, "GET", "/api/v1/runs/"+id, nil).Run(t)
		return run.Status != "awaiting_approval" && run.Status != "queued" && run.Status != "running"
	})
	return run
}

func decide(t *testing.T, c *servertest.Client, status int, id, decision, scope, comment string, who ...servertest.Headers) servertest.Answer {
	t.Helper()
	body := map[string]any{"decision": decision, "comment": comment}
	if scope != "" {
		body["scope"] = scope
	}
	return c.Want(t, status, "POST", "/api/v1/approvals/"+id, body, who...)
}

func TestRunThatNeedsAnApproval(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n * 2", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	if run := s.Want(t, 200, "POST", "/api/v1/code-agents/asks/execute", `{"version":"draft","input":{"n":1}}`).Run(t); string(run.Output) != "2" {
		t.Errorf("a run of the draft waits: %+v", run)
	}
	first := waitingRun(t, s.Client, "asks", map[string]int{"n": 4})
	if run := s.Get(t, first.RunID); run.Status != "awaiting_approval" {
		t.Errorf("it is %+v", run)
	}
	var list struct {
		Items   []registry.Approval
		Pending int
	}
	s.Want(t, 200, "GET", "/api/v1/approvals?status=pending", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Pending != 1 || list.Items[0].Reasons[0] != "Each run of this version needs an approval." || list.Items[0].RunID != first.RunID {
		t.Errorf("listed are %+v", list)
	}
	var one registry.Approval
	s.Want(t, 200, "GET", "/api/v1/approvals/"+first.ApprovalID, nil).Into(t, &one)
	if string(one.Input) != `{"n":4}` {
		t.Errorf("the approver reads the input %s", one.Input)
	}
	decide(t, s.Client, 200, first.ApprovalID, "approve", "", "fine")
	if run := ended(t, s.Client, first.RunID); run.Status != "succeeded" || string(run.Output) != "8" {
		t.Errorf("the approved run is %+v", run)
	}
	problem := decide(t, s.Client, 409, first.ApprovalID, "deny", "", "").Problem(t)
	if !strings.Contains(problem.Detail, "already approved by") {
		t.Errorf("the second decision: %+v", problem)
	}

	denied := waitingRun(t, s.Client, "asks", map[string]int{"n": 5})
	decide(t, s.Client, 200, denied.ApprovalID, "deny", "", "not today")
	if run := ended(t, s.Client, denied.RunID); run.Status != "blocked" || run.Error == nil || !strings.Contains(run.Error.Message, "not today") || run.Error.Rule != "approval" {
		t.Errorf("the denied run is %+v %+v", run, run.Error)
	}

	cancelled := waitingRun(t, s.Client, "asks", map[string]int{"n": 6})
	s.Want(t, 200, "POST", "/api/v1/runs/"+cancelled.RunID+"/cancel", nil)
	if run := ended(t, s.Client, cancelled.RunID); run.Status != "cancelled" {
		t.Errorf("the cancelled run is %+v", run)
	}
	decide(t, s.Client, 409, cancelled.ApprovalID, "approve", "", "")

	always := waitingRun(t, s.Client, "asks", map[string]int{"n": 7})
	decide(t, s.Client, 200, always.ApprovalID, "approve", "version", "")
	ended(t, s.Client, always.RunID)
	if run := s.Execute(t, "asks", "1.0.0", map[string]int{"n": 10}); string(run.Output) != "20" {
		t.Errorf("after an approval of the version: %+v", run)
	}
}

func TestDecide_TwoApproversAtOnce_OneWins(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default () => 1", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	waiting := waitingRun(t, s.Client, "asks", map[string]any{})
	var group sync.WaitGroup
	statuses := make([]int, 8)
	for n := range statuses {
		group.Go(func() {
			answer, err := s.Try(t.Context(), "POST", "/api/v1/approvals/"+waiting.ApprovalID, `{"decision":"approve"}`)
			if err == nil {
				statuses[n] = answer.Status
			}
		})
	}
	group.Wait()
	won := 0
	for _, status := range statuses {
		if status == 200 {
			won++
		} else if status != 409 {
			t.Errorf("one was answered %d", status)
		}
	}
	if won != 1 {
		t.Errorf("%d of %v won", won, statuses)
	}
	if run := ended(t, s.Client, waiting.RunID); run.Status != "succeeded" {
		t.Errorf("the run is %+v", run)
	}
}

func TestSelfApproval_Forbidden_AnotherApproverDecides(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	setGate(t, s.Client, map[string]any{"selfApproval": false})
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default () => 1", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	waiting := waitingRun(t, s.Client, "asks", map[string]any{})
	if p := decide(t, s.Client, 403, waiting.ApprovalID, "approve", "", "").Problem(t); !strings.Contains(p.Detail, "own requests") {
		t.Errorf("refused with %+v", p)
	}
	developer := join(t, s, "dev", invite(t, s, "developer"))
	developer.want(t, 403, "POST", "/api/v1/approvals/"+waiting.ApprovalID, `{"decision":"approve"}`)
	approver := join(t, s, "boss", invite(t, s, "approver"))
	var details struct{ Approvers []string }
	s.Want(t, 200, "GET", "/api/v1/approvals/"+waiting.ApprovalID, nil).Into(t, &details)
	if !slices.Contains(details.Approvers, "boss") || slices.Contains(details.Approvers, "dev") {
		t.Errorf("approvers %q", details.Approvers)
	}
	approver.want(t, 200, "POST", "/api/v1/approvals/"+waiting.ApprovalID, `{"decision":"approve"}`)
	if run := ended(t, s.Client, waiting.RunID); run.Status != "succeeded" {
		t.Errorf("the run is %+v", run)
	}
}

// A run that waits for an approval survives kill -9, and executes once after it is approved.
func TestWaitingRun_ServerKilled_RunsOnce(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.Spawn(t, data, "--token", token)
	p.Token = token
	p.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n + 1", "requiresApproval": true})
	p.Publish(t, "asks", "1.0.0")
	waiting := waitingRun(t, p.Client, "asks", map[string]int{"n": 41})
	p.Signal(t, syscall.SIGKILL)
	p.Exit()

	again := servertest.On(t, data, servertest.Flags(t, map[string]string{"data": data, "token": token}))
	again.Token = token
	if run := again.Get(t, waiting.RunID); run.Status != "awaiting_approval" {
		t.Fatalf("after the restart it is %+v", run)
	}
	decide(t, again.Client, 200, waiting.ApprovalID, "approve", "", "")
	if run := ended(t, again.Client, waiting.RunID); run.Status != "succeeded" || string(run.Output) != "42" {
		t.Errorf("it ended as %+v", run)
	}
	var list struct{ Items []servertest.Run }
	again.Want(t, 200, "GET", "/api/v1/runs?agent=asks", nil).Into(t, &list)
	if len(list.Items) != 1 {
		t.Errorf("there are %d runs", len(list.Items))
	}
}

// If the server is killed just after a decision is stored, the next server carries the decision out.
func TestWaitingRun_ServerKilledAfterDecision_Ends(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.Spawn(t, data, "--token", token)
	p.Token = token
	p.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n + 1", "requiresApproval": true})
	p.Publish(t, "asks", "1.0.0")
	want := map[registry.ApprovalStatus]registry.Status{registry.ApprovalDenied: registry.Blocked, registry.ApprovalExpired: registry.Blocked, registry.ApprovalWithdrawn: registry.StatusCancelled}
	waiting := map[registry.ApprovalStatus]asked{}
	for status := range want {
		waiting[status] = waitingRun(t, p.Client, "asks", map[string]int{"n": 41})
	}
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	decideAndCrash(t, data, waiting)

	again := servertest.On(t, data, servertest.Flags(t, map[string]string{"data": data, "token": token}))
	again.Token = token
	for status, run := range waiting {
		if got := ended(t, again.Client, run.RunID); got.Status != string(want[status]) {
			t.Errorf("the run of a request that is %s ended as %+v", status, got)
		}
		var a registry.Approval
		servertest.Eventually(t, "the request drops its input", func() bool {
			a = registry.Approval{}
			again.Want(t, 200, "GET", "/api/v1/approvals/"+run.ApprovalID, nil).Into(t, &a)
			return a.Input == nil
		})
		if a.Status != status {
			t.Errorf("the request is %+v", a)
		}
	}
}

// decideAndCrash stores a decision and stops, like a server that is killed before it ends the run.
func decideAndCrash(t *testing.T, data string, waiting map[registry.ApprovalStatus]asked) {
	t.Helper()
	files, err := blobs.Open(filepath.Join(data, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Options{URL: "sqlite:" + filepath.Join(data, "atelier.db"), Blobs: files})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for status, run := range waiting {
		if _, err := s.DecideApproval(t.Context(), registry.Approval{ID: run.ApprovalID, Workspace: registry.DefaultWorkspace, Status: status, DecidedAt: &now}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

const (
	localPython  = "def main(input, ctx):\n    return {'ok': True}\n"
	remotePython = "from urllib import request\n\ndef main(input, ctx):\n    if input.get('call'):\n        request.urlopen('https://api.example.com/a')\n    return {'ok': True}\n"
)

// If the gate enforces its verdict, a version with a new host waits for an approval. It is published when a person
// approves it.
func TestPublish_NewHost_Enforced(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	setGate(t, s.Client, map[string]any{"gate": "enforce"})
	s.Create(t, map[string]any{"name": "fetcher", "language": "python", "code": localPython})
	s.Publish(t, "fetcher", "1.0.0")
	s.Want(t, 200, "PUT", "/api/v1/code-agents/fetcher", map[string]any{
		"language": "python", "code": remotePython, "capabilities": map[string]any{"hosts": []string{"api.example.com:443"}}, "safetyFlags": []string{"network_access"},
	}, servertest.Headers{"If-Match": "*"})
	said := servertest.Command(t, "", "publish", "fetcher", "--server", s.URL, "--token", s.Token)
	if said.Code != 3 || !strings.Contains(said.Stderr, "newly reaches api.example.com:443 (main.py:5)") || !strings.Contains(said.Stderr, "it waits for an approver (admin)\napprove it at "+s.URL+"/studio/approvals/") {
		t.Errorf("exit %d, %q, %q", said.Code, said.Stdout, said.Stderr)
	}
	s.Want(t, 404, "GET", "/api/v1/code-agents/fetcher/versions/2.0.0", nil)
	var list struct{ Items []registry.Approval }
	s.Want(t, 200, "GET", "/api/v1/approvals?status=pending&kind=publish", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].Version != "2.0.0" || list.Items[0].Verdict.Decision != registry.Escalate {
		t.Fatalf("listed are %+v", list.Items)
	}
	var details approvals.Details
	s.Want(t, 200, "GET", "/api/v1/approvals/"+list.Items[0].ID, nil).Into(t, &details)
	compared := details.Comparison
	if compared == nil || compared.With != "1.0.0" || len(compared.Files) != 1 || compared.Files[0].Status != "changed" || compared.CapabilityChanges[0].Message != "newly reaches api.example.com:443 (main.py:5)" {
		t.Errorf("the approver reads %+v", compared)
	}
	var diff agents.Diff
	s.Want(t, 200, "GET", "/api/v1/approvals/"+list.Items[0].ID+"/diff", nil).Into(t, &diff)
	if diff.From != "1.0.0" || diff.To != "2.0.0" || !strings.Contains(diff.Files[0].Unified, "+from urllib import request") {
		t.Errorf("the difference is %+v", diff)
	}
	said = servertest.Command(t, "", "approvals", "show", list.Items[0].ID, "--diff", "--server", s.URL, "--token", s.Token)
	if said.Code != 0 || !strings.Contains(said.Stdout, "newly reaches api.example.com:443 (main.py:5)") || !strings.Contains(said.Stdout, "+from urllib import request") {
		t.Errorf("exit %d, %q, %q", said.Code, said.Stdout, said.Stderr)
	}
	var done registry.Approval
	decide(t, s.Client, 200, list.Items[0].ID, "approve", "", "known host").Into(t, &done)
	if done.Outcome != "Published fetcher@2.0.0." {
		t.Errorf("the outcome is %q", done.Outcome)
	}
	if run := s.Execute(t, "fetcher", "2.0.0", map[string]any{}); run.Status != "succeeded" {
		t.Errorf("it ran as %+v %+v", run, run.Error)
	}
	var version registry.Version
	s.Want(t, 200, "GET", "/api/v1/code-agents/fetcher/versions/2.0.0", nil).Into(t, &version)
	if version.Verdict == nil || version.Verdict.Decision != registry.Escalate {
		t.Errorf("the version has the verdict %+v", version.Verdict)
	}

	s.Want(t, 200, "PUT", "/api/v1/code-agents/fetcher", map[string]any{
		"language": "python", "code": remotePython, "capabilities": map[string]any{"hosts": []string{"api.example.com:443", "other.example.com:443"}}, "safetyFlags": []string{"network_access"},
	}, servertest.Headers{"If-Match": "*"})
	var waiting asked
	s.Want(t, 202, "POST", "/api/v1/code-agents/fetcher/versions", `{}`).Into(t, &waiting)
	var repeated asked
	s.Want(t, 202, "POST", "/api/v1/code-agents/fetcher/versions", `{}`).Into(t, &repeated)
	if repeated.ApprovalID != waiting.ApprovalID {
		t.Errorf("the same publication waits as %s and %s", waiting.ApprovalID, repeated.ApprovalID)
	}
	decide(t, s.Client, 200, waiting.ApprovalID, "deny", "", "unknown host")
	s.Want(t, 404, "GET", "/api/v1/code-agents/fetcher/versions/3.0.0", nil)
	s.Want(t, 404, "GET", "/api/v1/approvals/"+waiting.ApprovalID+"/diff", nil) // The program of this run is not stored any longer.
	details = approvals.Details{}
	s.Want(t, 200, "GET", "/api/v1/approvals/"+waiting.ApprovalID, nil).Into(t, &details)
	if details.Comparison != nil || details.Verdict == nil || details.Verdict.CapabilityChanges[0].Name != "other.example.com:443" {
		t.Errorf("the denied request is %+v", details)
	}
}

// The approver of a run sees the changes since the last approved version, and the findings.
func TestApproval_ComparedWithTheLastApprovedVersion(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "grows", "language": "python", "code": localPython})
	s.Publish(t, "grows", "1.0.0")
	reaches := func(hosts ...string) map[string]any {
		return map[string]any{"language": "python", "code": remotePython + "# " + strings.Join(hosts, ", ") + "\n", "requiresApproval": true, "capabilities": map[string]any{"hosts": hosts}, "safetyFlags": []string{"network_access"}}
	}
	anyRevision := servertest.Headers{"If-Match": "*"}
	s.Want(t, 200, "PUT", "/api/v1/code-agents/grows", reaches("api.example.com:443"), anyRevision)
	s.Publish(t, "grows", "2.0.0") // The gate only advises, so no approval is needed.
	read := func(id string) approvals.Details {
		var d approvals.Details
		s.Want(t, 200, "GET", "/api/v1/approvals/"+id, nil).Into(t, &d)
		if d.Comparison == nil || d.Verdict == nil {
			t.Fatalf("the request is %+v", d)
		}
		return d
	}
	waiting := waitingRun(t, s.Client, "grows", map[string]any{})
	if d := read(waiting.ApprovalID); d.Comparison.With != "1.0.0" || len(d.Comparison.CapabilityChanges) != 2 || d.Verdict.Decision != registry.Escalate {
		t.Errorf("the approver reads %+v", d.Comparison)
	}

	// In a workspace that enforces its gate, 2.0.0 does not count as approved. So 3.0.0 is compared with 1.0.0.
	setGate(t, s.Client, map[string]any{"gate": "enforce"})
	s.Want(t, 200, "PUT", "/api/v1/code-agents/grows", reaches("api.example.com:443", "b.example.com:443"), anyRevision)
	var third asked
	s.Want(t, 202, "POST", "/api/v1/code-agents/grows/versions", `{"version":"3.0.0"}`).Into(t, &third)
	if d := read(third.ApprovalID); d.Comparison.With != "1.0.0" || len(d.Comparison.CapabilityChanges) != 3 {
		t.Errorf("the approver reads %+v", d.Comparison)
	}
	decide(t, s.Client, 200, waiting.ApprovalID, "approve", "version", "")
	s.Want(t, 200, "PUT", "/api/v1/code-agents/grows", reaches("api.example.com:443", "c.example.com:443"), anyRevision)
	var fourth asked
	s.Want(t, 202, "POST", "/api/v1/code-agents/grows/versions", `{"version":"4.0.0"}`).Into(t, &fourth)
	if d := read(fourth.ApprovalID); d.Comparison.With != "2.0.0" || len(d.Comparison.CapabilityChanges) != 1 {
		t.Errorf("the approver reads %+v", d.Comparison)
	}

	var inline asked
	s.Want(t, 202, "POST", "/api/v1/execute", map[string]any{"language": "python", "code": "def main(input, ctx):\n    return eval('1')\n"}).Into(t, &inline)
	if d := read(inline.ApprovalID); d.Comparison.With != "" || d.Comparison.Files[0].Status != "added" || d.Verdict.Findings[0].Line != 2 {
		t.Errorf("the approver reads %+v %+v", d.Comparison, d.Verdict)
	}
}

func TestPublish_FlagsAndGrantsDisagree(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "local", "language": "python", "code": localPython})
	s.Publish(t, "local", "1.0.0")
	s.Want(t, 200, "PUT", "/api/v1/code-agents/local", map[string]any{
		"language": "python", "code": remotePython, "capabilities": map[string]any{"hosts": []string{"api.example.com:443"}},
	}, servertest.Headers{"If-Match": "*"})
	var diff struct{ CapabilityChanges []registry.CapabilityChange }
	s.Want(t, 200, "GET", "/api/v1/code-agents/local/versions/1.0.0/diff/draft", nil).Into(t, &diff)
	if len(diff.CapabilityChanges) != 2 || diff.CapabilityChanges[0].Message != "newly reaches api.example.com:443 (main.py:5)" {
		t.Errorf("the difference is %+v", diff.CapabilityChanges)
	}
	var verdict registry.Verdict
	s.Want(t, 200, "GET", "/api/v1/code-agents/local/verdict", nil).Into(t, &verdict)
	if len(verdict.MissingFlags) != 1 || verdict.MissingFlags[0] != "network_access" {
		t.Errorf("the missing flags are %v", verdict.MissingFlags)
	}
	for _, mode := range []string{"advise", "enforce"} {
		setGate(t, s.Client, map[string]any{"gate": mode})
		problem := s.Want(t, 422, "POST", "/api/v1/code-agents/local/versions", `{}`).Problem(t)
		if problem.Code != "policy_blocked" || !strings.Contains(problem.Errors[len(problem.Errors)-1].Message, "Add network_access to safetyFlags.") {
			t.Errorf("%s refused with %+v", mode, problem)
		}
	}
	setGate(t, s.Client, map[string]any{"gate": "advise"})
	s.Want(t, 200, "PUT", "/api/v1/code-agents/local", map[string]any{"safetyFlags": []string{"network_access"}}, servertest.Headers{"If-Match": "*"})
	s.Publish(t, "local", "2.0.0")
}

// The answer of POST /validate contains the verdict, unless the gate is off.
func TestValidate_AnswersTheVerdict(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	body := map[string]any{"language": "python", "code": "def main(input, ctx):\n    return eval('1')\n"}
	var report agents.ValidateReport
	s.Want(t, 200, "POST", "/api/v1/validate", body).Into(t, &report)
	if v := report.Verdict; !report.Valid || v == nil || v.Decision != registry.Escalate || v.Score != 0.5 || len(v.Findings) != 1 || v.Findings[0].RuleID != "standard/py-eval" || v.Findings[0].Line != 2 || v.RulePack != "standard" {
		t.Errorf("the report is %+v with %+v", report, report.Verdict)
	}
	setGate(t, s.Client, map[string]any{"gate": "off"})
	report = agents.ValidateReport{}
	if s.Want(t, 200, "POST", "/api/v1/validate", body).Into(t, &report); report.Verdict != nil {
		t.Errorf("with the gate off the verdict is %+v", report.Verdict)
	}
}

// By default the gate only advises: the answer contains the verdict, and only the verdict BLOCK prevents publishing.
func TestPublish_Advised(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "hidden", "language": "python", "code": "import base64\ndef main(input, ctx):\n    exec(base64.b64decode(input['x']))\n"})
	problem := s.Want(t, 422, "POST", "/api/v1/code-agents/hidden/versions", `{}`).Problem(t)
	if problem.Code != "policy_blocked" || !strings.Contains(problem.Errors[len(problem.Errors)-1].Message, ".") || problem.Errors[0].File != "main.py" {
		t.Errorf("refused with %+v", problem)
	}
	s.Create(t, map[string]any{"name": "evals", "language": "python", "code": "def main(input, ctx):\n    return eval('1')\n"})
	s.Publish(t, "evals", "1.0.0")
	if run := s.Execute(t, "evals", "1.0.0", map[string]any{}); run.Status != "succeeded" {
		t.Errorf("it ran as %+v", run)
	}
	var verdict registry.Verdict
	s.Want(t, 200, "GET", "/api/v1/code-agents/evals/verdict", nil).Into(t, &verdict)
	if verdict.Decision != registry.Escalate || verdict.Findings[0].RuleID != "standard/py-eval" || verdict.Findings[0].Line != 2 {
		t.Errorf("the verdict is %+v", verdict)
	}
	setGate(t, s.Client, map[string]any{"gate": "enforce"})
	waiting := waitingRun(t, s.Client, "evals", map[string]any{})
	decide(t, s.Client, 200, waiting.ApprovalID, "approve", "version", "")
	if run := ended(t, s.Client, waiting.RunID); run.Status != "succeeded" {
		t.Errorf("it ended as %+v", run)
	}
	if run := s.Execute(t, "evals", "1.0.0", map[string]any{}); run.Status != "succeeded" {
		t.Errorf("then it ran as %+v", run)
	}
	inline := s.Want(t, 200, "POST", "/api/v1/execute", map[string]any{"language": "python", "code": "import base64\ndef main(input, ctx):\n    exec(base64.b64decode(b''))\n"}).Run(t)
	if inline.Status != "blocked" || inline.Error == nil || inline.Error.Line != 3 || inline.Error.Remedy == "" {
		t.Errorf("inline code ran as %+v %+v", inline, inline.Error)
	}
	setGate(t, s.Client, map[string]any{"gate": "off"})
	s.Publish(t, "hidden", "1.0.0")
}

func TestRulePack_NotValid_RefusedWithLine(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const good = "name: house\nrules:\n  - {id: no-print, title: Prints., severity: critical, match: {fact: [call], name: [print]}, remedy: Use ctx.log.}\n"
	s.Want(t, 200, "PUT", "/api/v1/rule-packs/house", map[string]string{"source": good})
	for source, want := range map[string]int{
		"name: house\nrules:\n  - id: x\n    title: X\n    severity: terrible\n    match: {fact: [call]}\n    remedy: X\n": 5,
		"name: house\nrules: [\n":           3,
		"name: house\nrules: &a [*a]\n":     2,
		"name: house\nrules: []\nmore: 1\n": 1,
	} {
		problem := s.Want(t, 422, "PUT", "/api/v1/rule-packs/house", map[string]string{"source": source}).Problem(t)
		if len(problem.Errors) == 0 || problem.Errors[0].Line < 1 || want > 3 && problem.Errors[0].Line != want {
			t.Errorf("%q is refused with %+v", source, problem)
		}
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, []byte(good+strings.Repeat("# padding\n", 30_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	said := servertest.Command(t, "", "gate", "put", "ours", large, "--server", s.URL, "--token", s.Token)
	if said.Code != 2 || !strings.Contains(said.Stderr, "is larger than 256 KiB") {
		t.Errorf("exit %d, %q", said.Code, said.Stderr)
	}
	var schema struct{ Properties map[string]any }
	s.Want(t, 200, "GET", "/schemas/rule-pack.json", nil).Into(t, &schema)
	if schema.Properties["rules"] == nil {
		t.Errorf("the schema of rule packs has the properties %v", schema.Properties)
	}
	setGate(t, s.Client, map[string]any{"packs": []string{"standard", "house"}})
	s.Create(t, map[string]any{"name": "prints", "language": "python", "code": "def main(input, ctx):\n    print('x')\n"})
	problem := s.Want(t, 422, "POST", "/api/v1/code-agents/prints/versions", `{}`).Problem(t)
	if problem.Code != "policy_blocked" || problem.Errors[0].Line != 2 || problem.Errors[0].Code != "house/no-print" {
		t.Errorf("refused with %+v", problem)
	}
	s.Want(t, 409, "DELETE", "/api/v1/rule-packs/house", nil)
	setGate(t, s.Client, map[string]any{"disabledRules": []string{"house/no-print"}})
	s.Publish(t, "prints", "1.0.0")
	settings := s.Want(t, 422, "PUT", "/api/v1/gate", map[string]any{"gate": "advise", "packs": []string{"none"}, "disabledRules": []string{}, "blockAt": "critical", "escalateAt": "high", "newCapability": "warn", "selfApproval": true, "approvalHours": 1, "approveSideEffects": true}).Problem(t)
	if settings.Errors[0].Pointer != "/packs/0" {
		t.Errorf("refused with %+v", settings)
	}
}

func TestRun_CommandWaits(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	said := servertest.Command(t, "", "run", "asks@1.0.0", "--input", `{"n":1}`, "--no-wait", "--server", s.URL, "--token", s.Token)
	if said.Code != 3 || said.Stdout != "" || !strings.Contains(said.Stderr, "waits for an approver (admin): Each run") {
		t.Errorf("exit %d, %q, %q", said.Code, said.Stdout, said.Stderr)
	}
	var approved sync.WaitGroup
	approved.Go(func() {
		var list struct{ Items []registry.Approval }
		servertest.Eventually(t, "the command asks", func() bool {
			s.Want(t, 200, "GET", "/api/v1/approvals?status=pending", nil).Into(t, &list)
			return len(list.Items) == 2
		})
		decide(t, s.Client, 200, list.Items[0].ID, "approve", "", "")
	})
	said = servertest.Command(t, "", "run", "asks@1.0.0", "--input", `{"n":2}`, "--server", s.URL, "--token", s.Token)
	approved.Wait()
	if said.Code != 0 || said.Stdout != "2\n" {
		t.Errorf("exit %d, %q, %q", said.Code, said.Stdout, said.Stderr)
	}
}

// The gate checks skills when they are installed. A blocked skill is not installed, and an escalated skill waits for an
// approval.
func TestInstallSkill_BlockedAndEscalated(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	setGate(t, s.Client, map[string]any{"gate": "enforce"})
	type refusal struct {
		Code   string
		Errors []struct{ File string }
	}
	install := func(status int, name, code string) (said refusal) {
		settings := "name: " + name + "\nversion: 1.0.0\ndescription: Answers.\nhandler: handler.run\n"
		schemas := `{"input": {"type": "object"}, "output": {}}`
		s.Want(t, status, "POST", "/v1/skills/install", map[string]any{"files": map[string]string{"skill.yaml": settings, "schema.json": schemas, "handler.py": code}}).Into(t, &said)
		return said
	}
	if p := install(422, "hidden", "import base64\ndef run(action, args):\n    exec(base64.b64decode(args['x']))\n"); p.Code != "policy_blocked" || p.Errors[0].File != "handler.py" {
		t.Errorf("blocked with %+v", p)
	}
	s.Want(t, 404, "GET", "/skills/hidden", nil)
	evals := "def run(action, args):\n    return eval('1')\n"
	if p := install(409, "evals", evals); p.Code != "approval_required" {
		t.Errorf("escalated with %+v", p)
	}
	s.Want(t, 404, "GET", "/skills/evals", nil)
	var list struct{ Items []registry.Approval }
	s.Want(t, 200, "GET", "/api/v1/approvals?status=pending", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].Agent != "evals" {
		t.Fatalf("%+v wait", list.Items)
	}
	decide(t, s.Client, 200, list.Items[0].ID, "approve", "", "")
	install(200, "evals", evals)
	s.Want(t, 200, "GET", "/skills/evals", nil)
}

// If the gate escalates the promotion of a skill, the promotion waits for an approver. After the approval, the next
// promotion makes the skill active.
func TestPromoteSkill_Escalated(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	setGate(t, s.Client, map[string]any{"gate": "enforce"})
	code := "API_KEY = 'sk-live0a9b8c7d6e5f4a3b2c1d0e9f'\ndef run(action, args):\n    return len(API_KEY)\n"
	var made struct {
		Action   string
		Promoted bool
		Reason   string
		Verdict  registry.Verdict
	}
	s.Want(t, 200, "POST", "/v1/skills/create", map[string]any{"name": "keyed", "description": "Counts a key.", "code": code, "auto_promote": true}).Into(t, &made)
	if made.Promoted || made.Verdict.Decision != registry.Escalate || !strings.Contains(made.Reason, "requires a person") {
		t.Errorf("created: %+v", made)
	}
	s.Want(t, 409, "POST", "/v1/skills/promote", `{"name":"keyed"}`)
	var list struct{ Items []registry.Approval }
	s.Want(t, 200, "GET", "/api/v1/approvals?status=pending", nil).Into(t, &list)
	if len(list.Items) != 1 {
		t.Fatalf("%d requests wait", len(list.Items))
	}
	decide(t, s.Client, 200, list.Items[0].ID, "approve", "", "")
	s.Want(t, 200, "POST", "/v1/skills/promote", `{"name":"keyed"}`)
	var skills struct{ Drafts []any }
	s.Want(t, 200, "GET", "/v1/skills", nil).Into(t, &skills)
	if len(skills.Drafts) != 0 {
		t.Errorf("it is still a draft: %+v", skills.Drafts)
	}
}

// An approval with the scope caller applies to that caller only; runs of other callers wait.
func TestApprove_ForCaller_OthersWait(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	first := waitingRun(t, s.Client, "asks", map[string]int{"n": 1})
	decide(t, s.Client, 200, first.ApprovalID, "approve", "caller", "")
	ended(t, s.Client, first.RunID)
	if run := s.Execute(t, "asks", "1.0.0", map[string]int{"n": 2}); string(run.Output) != "2" {
		t.Errorf("the same caller: %+v", run)
	}
	s.Want(t, 202, "POST", "/api/v1/code-agents/asks/execute", `{"version":"1.0.0","input":{"n":3}}`, anotherCaller(t, s))
}

// A request without an answer expires, and its run ends.
func TestApproval_NoAnswer_Expires(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	s := servertest.New(t, func(o *app.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	waiting := waitingRun(t, s.Client, "asks", map[string]int{"n": 1})
	later.Store(int64(73 * time.Hour))
	run := ended(t, s.Client, waiting.RunID)
	if run.Status != "blocked" || run.Error == nil || !strings.Contains(run.Error.Message, "not approved in time") {
		t.Errorf("it ended as %+v %+v", run, run.Error)
	}
	var a registry.Approval
	s.Want(t, 200, "GET", "/api/v1/approvals/"+waiting.ApprovalID, nil).Into(t, &a)
	if a.Status != registry.ApprovalExpired || a.Decider != nil {
		t.Errorf("the request is %+v", a)
	}
	if p := decide(t, s.Client, 409, waiting.ApprovalID, "approve", "", "").Problem(t); !strings.Contains(p.Detail, "expired") {
		t.Errorf("decided late: %+v", p)
	}
}

func TestGate_OlderRevision_Conflict(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	var read map[string]any
	for n := range 2 { // The first round tests settings that were never stored, and the second one tests stored settings.
		s.Want(t, 200, "GET", "/api/v1/gate", nil).Into(t, &read)
		var stored map[string]any
		s.Want(t, 200, "PUT", "/api/v1/gate", read).Into(t, &stored)
		if before, ok := read["revision"].(float64); !ok || stored["revision"] != before+1 {
			t.Errorf("change %d: revision %v after %v", n, stored["revision"], read["revision"])
		}
		if problem := s.Want(t, 409, "PUT", "/api/v1/gate", read).Problem(t); problem.Code != "conflict" {
			t.Errorf("refused with %+v", problem)
		}
	}
	delete(read, "revision")
	s.Want(t, 200, "PUT", "/api/v1/gate", read)
}
