package servertest_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/remote"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// elsewhere runs the programs of the test suite at another server.
type elsewhere struct {
	*remote.Engine
	far      *servertest.Server
	protocol remote.Protocol
	path     string
}

func (e elsewhere) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	address := strings.TrimPrefix(e.far.URL, "http://")
	service, err := json.Marshal(remote.Service{URL: e.far.URL + e.path, Protocol: e.protocol})
	if err != nil {
		return runtimes.Outcome{}, err
	}
	job.Files = maps.Clone(job.Files)
	job.Files[remote.File] = service
	job.RunID = rand.Text()
	job.Capabilities.Hosts = append(job.Capabilities.Hosts, address)
	job.Bound = []runtimes.BoundSecret{{Name: "KEY", Host: address, Header: "Authorization", Value: "Bearer " + e.far.Token, Secret: e.far.Token}}
	return e.Engine.Run(ctx, job, quiet{host})
}

// quiet removes the requests of the engine itself from the events, because a program in a local sandbox has no such
// requests.
type quiet struct{ runtimes.Host }

func (q quiet) Emit(e runtimes.Event) {
	if e.Kind != runtimes.KindEgress {
		q.Host.Emit(e)
	}
}

func newRemote(t *testing.T) *remote.Engine {
	t.Helper()
	proxy := egress.New(egress.Options{Ceiling: func(string) hostpattern.Ceiling { return hostpattern.Ceiling{All: true, Private: true} }})
	engine := remote.New(remote.Options{Egress: proxy, Backoff: time.Millisecond})
	t.Cleanup(engine.Close)
	return engine
}

// TestRemote_AnotherAtelier_Conforms runs the test suite of all runtimes at a second real server.
func TestRemote_AnotherAtelier_Conforms(t *testing.T) {
	t.Parallel()
	p := runtimetest.Python()
	p.Runtime = runtimes.RemoteEngine
	runtimetest.Conformance(t, elsewhere{newRemote(t), servertest.New(t), remote.Atelier, ""}, p)
}

// TestRemote_PublishedAgent_RunsElsewhere publishes an agent whose program runs at a second server. The first server
// has the token for the second one as a bound secret. Errors must name the file, the host and the ceiling.
func TestRemote_PublishedAgent_RunsElsewhere(t *testing.T) {
	t.Parallel()
	far := servertest.New(t)
	address := strings.TrimPrefix(far.URL, "http://")
	s := servertest.New(t, servertest.Flags(t, map[string]string{"egress-hosts": address}))
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/secrets/FAR", map[string]any{"value": far.Token, "bind": map[string]string{"host": address, "header": "Authorization", "format": "Bearer {value}"}})
	agent := func(service string, hosts ...string) map[string]any {
		return map[string]any{
			"name": "away", "language": "python", "runtime": "remote", "secrets": []string{"FAR"}, "capabilities": map[string]any{"hosts": append([]string{}, hosts...)}, "safetyFlags": []string{"external_call"},
			"files": map[string]string{"main.py": "def main(n):\n    print('far', n)\n    return n + 1\n", remote.File: service},
		}
	}
	whole := `{"url":"` + far.URL + `","protocol":"atelier"}`
	for name, tt := range map[string]struct {
		agent          map[string]any
		pointer, wants string
	}{
		"no file":       {map[string]any{"name": "away", "language": "python", "runtime": "remote", "code": "def main(): pass"}, "/files", "remote.json"},
		"not JSON":      {agent("{", address), "/files/remote.json", "JSON"},
		"unknown":       {agent(`{"url":"https://a.example","protocol":"atelier","x":1}`, address), "/files/remote.json", "unknown field"},
		"no protocol":   {agent(`{"url":"https://a.example"}`, address), "/files/remote.json", "protocol"},
		"no tool":       {agent(`{"url":"https://a.example","protocol":"mcp"}`, address), "/files/remote.json", "tool"},
		"tool":          {agent(`{"url":"https://a.example","protocol":"openapi","tool":"x"}`, address), "/files/remote.json", "mcp"},
		"password":      {agent(`{"url":"https://a:b@a.example","protocol":"openapi"}`, address), "/files/remote.json", "secret"},
		"itself":        {agent(`{"url":"https://a.example","protocol":"atelier","runtime":"remote"}`, address), "/files/remote.json", "other than remote"},
		"idempotent":    {agent(`{"url":"https://a.example","protocol":"atelier","idempotent":true}`, address), "/files/remote.json", "Atelier servers are always idempotent"},
		"not granted":   {agent(whole), "/capabilities/hosts", address},
		"above ceiling": {agent(`{"url":"https://a.example","protocol":"openapi"}`, "a.example:443"), "/capabilities/hosts/0", "--egress-hosts"},
	} {
		refused := s.Want(t, http.StatusUnprocessableEntity, http.MethodPost, "/api/v1/code-agents", tt.agent).Problem(t)
		if !slices.ContainsFunc(refused.Errors, func(e fault.Detail) bool {
			return e.Pointer == tt.pointer && strings.Contains(e.Message, tt.wants)
		}) {
			t.Errorf("%s: %+v", name, refused)
		}
	}
	s.Create(t, agent(whole, address))
	s.Publish(t, "away", "1.0.0")
	run := s.Execute(t, "away", "1.0.0", map[string]any{"n": 41})
	if string(run.Output) != "42" || run.Stdout != "far 41\n" || run.Provenance.Runtime != "remote" || run.Provenance.Isolation != remote.Level {
		t.Errorf("%+v", run)
	}
	var there struct{ Items []servertest.Run }
	far.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs", nil).Into(t, &there)
	if len(there.Items) != 1 || there.Items[0].Status != "succeeded" {
		t.Errorf("the second server has %+v", there.Items)
	}
	far.Stop(t)
	run = s.Execute(t, "away", "1.0.0", map[string]any{"n": 1})
	if run.Success || !strings.Contains(run.Error.Message, address+" is unreachable") {
		t.Errorf("%+v", run.Error)
	}
}

// TestRemote_CancelledHere_CancelledThere checks that cancelling a run also cancels it at the other server.
func TestRemote_CancelledHere_CancelledThere(t *testing.T) {
	t.Parallel()
	far := servertest.New(t)
	address := strings.TrimPrefix(far.URL, "http://")
	s := servertest.New(t, servertest.Flags(t, map[string]string{"egress-hosts": address}))
	s.Want(t, http.StatusOK, http.MethodPut, "/api/v1/secrets/FAR", map[string]any{"value": far.Token, "bind": map[string]string{"host": address, "header": "Authorization", "format": "Bearer {value}"}})
	s.Create(t, map[string]any{
		"name": "away", "language": "python", "runtime": "remote", "secrets": []string{"FAR"}, "capabilities": map[string]any{"hosts": []string{address}},
		"files": map[string]string{"main.py": runtimetest.Python().Forever, remote.File: `{"url":"` + far.URL + `","protocol":"atelier"}`},
	})
	begun := s.Want(t, http.StatusAccepted, http.MethodPost, "/api/v1/code-agents/away/execute", map[string]any{"version": "draft", "input": map[string]any{}}, servertest.Headers{"Prefer": "respond-async"}).Run(t)
	servertest.Eventually(t, "the program prints", func() bool { return s.Get(t, begun.RunID).Stdout == "started\n" })
	s.Want(t, http.StatusOK, http.MethodPost, "/api/v1/runs/"+begun.RunID+"/cancel", nil)
	if run := s.Wait(t, begun.RunID); run.Status != "cancelled" {
		t.Errorf("%+v", run)
	}
	var there struct{ Items []servertest.Run }
	servertest.Eventually(t, "the run ends at the second server", func() bool {
		far.Want(t, http.StatusOK, http.MethodGet, "/api/v1/runs", nil).Into(t, &there)
		return len(there.Items) == 1 && there.Items[0].Status == "cancelled"
	})
}

// TestRemote_OpenAPI_ExecuteOfAnAtelier uses POST /api/v1/execute of the second server as an HTTP service.
func TestRemote_OpenAPI_ExecuteOfAnAtelier(t *testing.T) {
	t.Parallel()
	p := runtimetest.Python()
	p.Runtime = runtimes.RemoteEngine
	engine := elsewhere{newRemote(t), servertest.New(t), remote.OpenAPI, "/api/v1/execute"}
	outcome, host := runtimetest.Run(t, engine, p.Job(p.Hello))
	if string(outcome.Output) != `{"greeting":"Hello, Ada"}` || host.Stdout(t) != "hello Ada\n" {
		t.Errorf("%s %+v", outcome.Output, outcome.Error)
	}
	outcome, _ = runtimetest.Run(t, engine, p.Job(p.Fail))
	if outcome.Error == nil || outcome.Error.Line != p.FailLine || outcome.Error.File != "main.py" {
		t.Errorf("%+v", outcome.Error)
	}
}
