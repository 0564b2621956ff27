package servertest_test

import (
	"database/sql"
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/bacalhau"
	"github.com/atelier-run/atelier/runtimes/bacalhau/bacalhautest"
	"github.com/atelier-run/atelier/runtimes/e2b/e2btest"
	"github.com/atelier-run/atelier/runtimes/monty/montytest"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestBacalhau_StoppedServer_JobsFollowed stops and kills a server in the middle of three runs. The next server must
// follow the job of the version to its end and record the result once. It must also follow and cancel the jobs of
// inline code and of a draft.
func TestBacalhau_StoppedServer_JobsFollowed(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobsFollowed(t, signal)
		})
	}
}

func jobsFollowed(t *testing.T, signal syscall.Signal) {
	t.Helper()
	service, data := bacalhautest.New(t), t.TempDir()
	followed := followedJobs(service)
	const token = "a-token-that-is-long-enough-to-be-one"
	settings := map[string]string{"data": data, "token": token, "bacalhau-api-host": service.Host, "bacalhau-api-port": service.Port, "bacalhau-api-key": bacalhautest.Key}
	p := servertest.Spawn(t, data, "--token", token, "--bacalhau-api-key", bacalhautest.Key, "--bacalhau-api-host", service.Host, "--bacalhau-api-port", service.Port, "--shutdown-grace", "10ms")
	p.Token = token
	p.Create(t, map[string]any{"name": "away", "language": "python", "runtime": "bacalhau", "code": runtimetest.Python().Hello})
	p.Publish(t, "away", "1.0.0")
	run := p.Execute(t, "away", "1.0.0", map[string]any{"name": "Ada"})
	if string(run.Output) != `{"greeting":"Hello, Ada"}` || run.Stdout != "hello Ada\n" || run.Provenance.Runtime != "bacalhau" || run.Provenance.Isolation != "remote" || len(service.Running()) != 0 {
		t.Errorf("%+v, jobs %v", run, service.Running())
	}
	refused := p.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/code-agents", map[string]any{
		"name": "ports", "language": "python", "runtime": "bacalhau", "code": "def main(): pass", "packages": []string{"requests==2.32.3"}, "capabilities": map[string]any{"hosts": []string{"a.example:22"}},
	}).Problem(t)
	for _, pointer := range []string{"/packages", "/capabilities/hosts/0"} {
		if !slices.ContainsFunc(refused.Errors, func(e fault.Detail) bool { return e.Pointer == pointer }) {
			t.Errorf("no refusal of %s: %+v", pointer, refused)
		}
	}
	forever := map[string]any{"language": "python", "runtime": "bacalhau", "code": runtimetest.Python().Forever, "input": map[string]any{}}
	cancelled := p.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/execute", forever, servertest.Headers{"Prefer": "respond-async"}).Run(t)
	servertest.Eventually(t, "the program prints", func() bool { return p.Get(t, cancelled.RunID).Stdout == "started\n" })
	p.Want(t, http.StatusOK, http.MethodPost, "/api/v1/runs/"+cancelled.RunID+"/cancel", nil)
	if run := p.Get(t, cancelled.RunID); run.Status != "cancelled" || len(service.Running()) != 0 {
		t.Errorf("%+v, jobs %v", run, service.Running())
	}
	async := servertest.Headers{"Prefer": "respond-async"}
	inline := p.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/execute", forever, async).Run(t)
	p.Create(t, map[string]any{"name": "draft", "language": "python", "runtime": "bacalhau", "code": runtimetest.Python().Forever})
	draft := p.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/code-agents/draft/execute?version=draft", map[string]any{"input": map[string]any{}}, async).Run(t)
	release := service.Hold()
	version := p.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/code-agents/away/execute?version=1.0.0", map[string]any{"input": map[string]any{"name": "Ada"}}, async).Run(t)
	for id, text := range map[string]string{inline.RunID: "started\n", draft.RunID: "started\n", version.RunID: "hello Ada\n"} {
		servertest.Eventually(t, "the program prints", func() bool { return p.Get(t, id).Stdout == text })
	}
	p.Signal(t, signal)
	p.Exit()
	followed() // Reset the list of jobs that the ended server has followed.
	if left := len(service.Running()); left != 3 {
		t.Fatalf("jobs %v", service.Running())
	}
	again := servertest.On(t, data, servertest.Flags(t, settings))
	// A cancelled run leaves its job to the janitor, which runs every minute.
	jobs := map[string]bool{}
	servertest.Eventually(t, "the server follows the jobs", func() bool {
		maps.Copy(jobs, followed())
		return len(jobs) == 3
	})
	for _, id := range []string{inline.RunID, draft.RunID} {
		again.Want(t, http.StatusOK, http.MethodPost, "/api/v1/runs/"+id+"/cancel", nil)
		if run := again.Get(t, id); run.Status != "cancelled" {
			t.Errorf("%+v", run)
		}
	}
	release()
	servertest.Eventually(t, "the version ends", func() bool { return again.Get(t, version.RunID).Status == "succeeded" })
	if run := again.Get(t, version.RunID); string(run.Output) != `{"greeting":"Hello, Ada"}` || run.Stdout != "hello Ada\n" {
		t.Errorf("%+v", run)
	}
	servertest.Eventually(t, "no job is left", func() bool { return len(service.Running()) == 0 })
	if all := service.Jobs(); all != 5 {
		t.Errorf("%d jobs", all)
	}
}

// TestBacalhau_KilledServer_ModulesFollowed kills a server that has one job at work and one that waits at the node. It expects
// that the next server records the result of one of them once, and cancels the other.
func TestBacalhau_KilledServer_ModulesFollowed(t *testing.T) {
	t.Parallel()
	network, data := bacalhautest.NewNetwork(t), t.TempDir()
	start := func() *servertest.Process {
		p := servertest.Spawn(t, data, "--token", kafkaToken, "--bacalhau-api-key", bacalhautest.Key, "--bacalhau-api-host", network.Host, "--bacalhau-api-port", network.Port)
		p.Token = kafkaToken
		return p
	}
	program := func(code []byte) map[string]any {
		return map[string]any{"language": "wasm", "runtime": "bacalhau", "files": map[string]any{"main.wasm": map[string][]byte{"base64": code}}}
	}
	p := start()
	agent := program(bacalhautest.Module(`{"answer":42}`))
	agent["name"] = "away"
	p.Create(t, agent)
	p.Publish(t, "away", "1.0.0")
	if run := p.Execute(t, "away", "1.0.0", map[string]any{}); string(run.Output) != `{"answer":42}` || run.Provenance.Runtime != "bacalhau" {
		t.Errorf("%+v", run)
	}
	limited := program([]byte(bacalhautest.Idle))
	limited["limits"] = map[string]any{"timeoutMs": 500}
	if run := p.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", limited).Run(t); run.Status != "timed_out" || run.Error == nil || run.Error.Type != "timeout" {
		t.Errorf("%+v", run)
	}
	database, err := sql.Open("sqlite", "file:"+filepath.Join(data, "atelier.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = database.Close() }) // it was only read
	running := func(path string, body any) string {
		id := p.Want(t, http.StatusAccepted, http.MethodPost, path, body, servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
		servertest.Eventually(t, "the job is stored", func() bool {
			stored := 0
			if err := database.QueryRowContext(t.Context(), "SELECT count(*) FROM remote_jobs WHERE run_id = ?", id).Scan(&stored); err != nil {
				t.Fatal(err)
			}
			return stored == 1
		})
		return id
	}
	endless := running("/api/v1/execute", program([]byte(bacalhautest.Idle)))
	release := network.Occupy(1)
	version := running("/api/v1/code-agents/away/execute?version=1.0.0", map[string]any{"input": map[string]any{}})
	p.Signal(t, syscall.SIGKILL)
	p.Exit()
	again := start()
	release()
	servertest.Eventually(t, "the version ends", func() bool { return again.Get(t, version).Status == "succeeded" })
	if run := again.Get(t, version); string(run.Output) != `{"answer":42}` || run.Stdout != `{"answer":42}` {
		t.Errorf("%+v", run)
	}
	again.Want(t, http.StatusOK, http.MethodPost, "/api/v1/runs/"+endless+"/cancel", nil)
	if run := again.Get(t, endless); run.Status != "cancelled" {
		t.Errorf("%+v", run)
	}
	servertest.Eventually(t, "no job is left", func() bool { return len(network.Running()) == 0 })
	if jobs := network.Jobs(); jobs != 4 {
		t.Errorf("%d jobs", jobs)
	}
}

// followedJobs returns a function. It lists the paths of the jobs whose live output was requested since its last call.
func followedJobs(service *bacalhautest.Service) func() map[string]bool {
	var mu sync.Mutex
	paths := map[string]bool{}
	service.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/logs") {
			mu.Lock()
			defer mu.Unlock()
			paths[r.URL.Path] = true
		}
		return false
	})
	return func() map[string]bool {
		mu.Lock()
		defer mu.Unlock()
		seen := paths
		paths = map[string]bool{}
		return seen
	}
}

// TestRuntimes_SameAgentAndInput_SameOutput runs one Python agent in all runtimes, and prints a table of the records. At a
// real node of Bacalhau it runs in an interpreter that is a WebAssembly module.
func TestRuntimes_SameAgentAndInput_SameOutput(t *testing.T) {
	t.Parallel()
	boxes, module := e2btest.New(t), bacalhautest.PythonModule(t)
	var jobs bacalhautest.Address
	if module != "" {
		jobs = bacalhautest.NewNetwork(t).Address
	} else {
		t.Logf("no Python interpreter for WebAssembly: set %s; the test service runs Python in a container", bacalhautest.Interpreter)
		jobs = bacalhautest.New(t).Address
	}
	s := servertest.New(t, servertest.Flags(t, map[string]string{
		"monty": montytest.Program(t), "bacalhau-python-module": module, "bacalhau-api-host": jobs.Host, "bacalhau-api-port": jobs.Port, "bacalhau-api-key": bacalhautest.Key,
		"e2b-api-key": e2btest.Key, "e2b-api-url": boxes.URL, "e2b-sandbox-url": boxes.URL,
	}))
	const code = "def main(words):\n    counts = {}\n    for word in words:\n        counts[word] = counts.get(word, 0) + 1\n    return {'counts': counts, 'total': len(words)}\n"
	t.Logf("%-10s %-10s %-10s %10s %10s %10s  %s", "runtime", "status", "isolation", "startMs", "runMs", "remoteMs", "output")
	for _, runtime := range []string{"python", "monty", "e2b", "bacalhau"} {
		answer := s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/execute", map[string]any{
			"language": "python", "runtime": runtime, "code": code, "input": map[string]any{"words": []string{"a", "b", "a"}},
		})
		run := answer.Run(t)
		var record struct{ Metrics map[string]any }
		if err := json.Unmarshal(s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs/"+run.RunID, nil).Body, &record); err != nil {
			t.Fatal(err)
		}
		t.Logf("%-10s %-10s %-10s %10.1f %10.1f %10.1f  %s", run.Provenance.Runtime, run.Status, run.Provenance.Isolation, number(record.Metrics["startMs"]), number(record.Metrics["runMs"]), number(record.Metrics["remoteMs"]), run.Output)
		if remote := runtime == "e2b" || runtime == "bacalhau"; string(run.Output) != `{"counts":{"a":2,"b":1},"total":3}` || run.Provenance.Runtime != runtime || remote != (number(record.Metrics["remoteMs"]) > 0) {
			t.Errorf("%s: %+v, metrics %v", runtime, run, record.Metrics)
		}
	}
}

func number(v any) float64 {
	n, _ := v.(float64)
	return n
}

// TestBacalhau_WithoutHost_Unavailable checks that without a configured host, the answer and the list of runtimes contain the
// remedy.
func TestBacalhau_WithoutHost_Unavailable(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	refused := s.Want(t, http.StatusServiceUnavailable, http.MethodPost, "/api/v1/execute", map[string]any{"language": "python", "runtime": "bacalhau", "code": "def main(): pass", "input": map[string]any{}})
	if !strings.Contains(string(refused.Body), "BACALHAU_API_HOST") {
		t.Errorf("%s", refused.Body)
	}
	if answer := s.Want(t, http.StatusOK, http.MethodGet, "/api/v1/capabilities", nil); !strings.Contains(string(answer.Body), bacalhau.Remedy) {
		t.Errorf("%s", answer.Body)
	}
}
