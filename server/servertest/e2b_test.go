package servertest_test

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/e2b"
	"github.com/atelier-run/atelier/runtimes/e2b/e2btest"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestE2B_KilledServer_SandboxDeleted runs a published agent and kills the server in the middle of a run. The next
// server must delete the sandbox and report the run as interrupted.
func TestE2B_KilledServer_SandboxDeleted(t *testing.T) {
	t.Parallel()
	service, data := e2btest.New(t), t.TempDir()
	const token = "a-token-that-is-long-enough-to-be-one"
	flags := []string{"--token", token, "--e2b-api-key", e2btest.Key, "--e2b-api-url", service.URL, "--e2b-sandbox-url", service.URL}
	p := servertest.Spawn(t, data, flags...)
	p.Token = token
	p.Create(t, map[string]any{"name": "away", "language": "python", "runtime": "e2b", "code": runtimetest.Python().Hello})
	p.Publish(t, "away", "1.0.0")
	run := p.Execute(t, "away", "1.0.0", map[string]any{"name": "Ada"})
	if string(run.Output) != `{"greeting":"Hello, Ada"}` || run.Stdout != "hello Ada\n" || run.Provenance.Runtime != "e2b" || run.Provenance.Isolation != "remote" || len(service.Sandboxes()) != 0 {
		t.Errorf("%+v, sandboxes %v", run, service.Sandboxes())
	}
	if answer := p.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs/"+run.RunID, nil); !strings.Contains(string(answer.Body), `"remoteMs":`) {
		t.Errorf("no remote time: %s", answer.Body)
	}
	refused := p.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/code-agents", map[string]any{
		"name": "ports", "language": "python", "runtime": "e2b", "code": "def main(): pass", "packages": []string{"requests==2.32.3"}, "capabilities": map[string]any{"hosts": []string{"a.example:22"}},
	}).Problem(t)
	for _, pointer := range []string{"/packages", "/capabilities/hosts/0"} {
		if !slices.ContainsFunc(refused.Errors, func(e fault.Detail) bool { return e.Pointer == pointer }) {
			t.Errorf("no refusal of %s: %+v", pointer, refused)
		}
	}
	for language, code := range map[string]string{"typescript": "export default ({ name }: { name: string }) => `Hello, ${name}`", "bash": "read -r line; [[ $line == *Ada* ]] && echo '\"Hello, Ada\"'"} {
		run := p.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", map[string]any{"language": language, "runtime": "e2b", "code": code, "input": map[string]any{"name": "Ada"}}).Run(t)
		if string(run.Output) != `"Hello, Ada"` || run.Provenance.Runtime != "e2b" {
			t.Errorf("%s: %+v", language, run)
		}
	}
	begun := p.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/execute", map[string]any{
		"language": "python", "runtime": "e2b", "code": runtimetest.Python().Forever, "input": map[string]any{},
	}, servertest.Headers{"Prefer": "respond-async"}).Run(t)
	servertest.Eventually(t, "the program prints", func() bool { return p.Get(t, begun.RunID).Stdout == "started\n" })
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	if len(service.Sandboxes()) != 1 {
		t.Fatalf("sandboxes %v", service.Sandboxes())
	}
	again := servertest.On(t, data, servertest.Flags(t, map[string]string{"data": data, "token": token, "e2b-api-key": e2btest.Key, "e2b-api-url": service.URL, "e2b-sandbox-url": service.URL}))
	servertest.Eventually(t, "the sandbox is deleted", func() bool { return len(service.Sandboxes()) == 0 })
	if run := again.Get(t, begun.RunID); run.Status != "interrupted" {
		t.Errorf("%+v", run)
	}
}

// TestE2B_WithoutKey_Unavailable expects the remedy in the answer of a run and in the list of runtimes.
func TestE2B_WithoutKey_Unavailable(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	refused := s.Want(t, http.StatusServiceUnavailable, http.MethodPost, "/api/v1/execute", map[string]any{"language": "python", "runtime": "e2b", "code": "def main(): pass", "input": map[string]any{}})
	if !strings.Contains(string(refused.Body), "E2B_API_KEY") {
		t.Errorf("%s", refused.Body)
	}
	if answer := s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/capabilities", nil); !strings.Contains(string(answer.Body), e2b.Remedy) {
		t.Errorf("%s", answer.Body)
	}
}
