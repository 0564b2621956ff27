package servertest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes/monty/montytest"
	"github.com/atelier-run/atelier/server/servertest"
)

const replicaKey = "ATELIER_SECRETS_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// replicas starts servers that share a new PostgreSQL database.
func replicas(t *testing.T, count int, flags ...string) []*servertest.Process {
	t.Helper()
	if !slices.Contains(flags, "--database") {
		flags = append(flags, "--database", storetest.Options(t, storetest.Postgres).URL)
	}
	flags = append(flags, "--replicas", "--script-runtime", "--token", kafkaToken)
	var all []*servertest.Process
	for range count {
		p := servertest.SpawnWith(t, t.TempDir(), []string{replicaKey}, flags...)
		p.Token = kafkaToken
		all = append(all, p)
	}
	return all
}

// A run that one server executes can be listed, followed and cancelled at another server.
func TestReplicas_RunIsFollowedAndCancelledAtAnotherServer(t *testing.T) {
	t.Parallel()
	all := replicas(t, 2)
	one, two := all[0], all[1]
	id := one.Start(t, "print begun\nwait")
	servertest.Eventually(t, "the other server says that the run is running", func() bool {
		return two.Do(t, "GET", "/api/v1/runs/"+id, nil).Status == 200 && two.Get(t, id).Status == "running"
	})
	var list struct{ Items []servertest.Run }
	two.Want(t, 200, "GET", "/api/v1/runs?status=running", nil).Into(t, &list)
	if len(list.Items) != 1 || list.Items[0].RunID != id {
		t.Errorf("the other server lists %+v", list.Items)
	}
	socket := two.Stream(t, id, "")
	for {
		event, err := socket.Next(t)
		if err != nil {
			t.Fatal(err)
		}
		if event.Kind == "stdout" && bytes.Contains(event.Data, []byte("begun")) {
			break
		}
	}
	var cancelled servertest.Run
	two.Want(t, 200, "POST", "/api/v1/runs/"+id+"/cancel", nil).Into(t, &cancelled)
	if cancelled.Status != "cancelled" {
		t.Errorf("after the request the run is %s", cancelled.Status)
	}
	events, err := socket.Rest(t)
	if len(events) == 0 || events[len(events)-1].Kind != "result" || !bytes.Contains(events[len(events)-1].Data, []byte(`"cancelled"`)) {
		t.Errorf("the stream at the other server ends with %v, %v", events, err)
	}
	if got := one.Get(t, id); got.Status != "cancelled" {
		t.Errorf("at its own server the run is %s", got.Status)
	}
	two.Want(t, http.StatusConflict, "POST", "/api/v1/runs/"+id+"/cancel", nil)
}

// Each server caches callers, references, settings of the gate and quotas. A change at one server must take effect at
// the other at once, and also while messages between them do not arrive.
func TestReplicas_ChangeAtOneServer_CountsAtTheOther(t *testing.T) {
	t.Parallel()
	address := storetest.Options(t, storetest.Postgres).URL
	all := replicas(t, 2, "--database", address)
	one, two := all[0], all[1]
	one.Create(t, map[string]any{"name": "weather", "language": "javascript", "code": "export default () => 1"})
	one.Publish(t, "weather", "1.0.0")
	for _, cut := range []bool{false, true} {
		if cut {
			stopListening(t, address)
		}
		// Revoke a token that the other server has cached.
		var made struct{ ID, Secret string }
		one.Want(t, 201, "POST", "/api/v1/tokens", map[string]any{"name": "worker", "scopes": []string{"admin"}}).Into(t, &made)
		worker := servertest.Client{URL: two.URL, Token: made.Secret}
		worker.Want(t, 200, "GET", "/api/v1/runs", nil)
		one.Want(t, 204, "DELETE", "/api/v1/tokens/"+made.ID, nil)
		servertest.Eventually(t, "the other server refuses a revoked token", func() bool { return worker.Do(t, "GET", "/api/v1/runs", nil).Status == 401 })
		// Publish a version that a cached reference must now select.
		version := "1.1.0"
		if cut {
			version = "1.2.0"
		}
		before := two.Execute(t, "weather", "latest", map[string]int{})
		one.Publish(t, "weather", version)
		servertest.Eventually(t, "the other server runs the new version", func() bool {
			return two.Execute(t, "weather", "latest", map[string]int{}).Provenance.Version == version
		})
		if before.Provenance.Version == version {
			t.Errorf("%s ran before it was published", version)
		}
		// A quota must count the runs of both servers.
		one.Want(t, 200, "PUT", "/api/v1/quotas/default", map[string]int{"concurrentRuns": 1})
		id := two.Start(t, "wait")
		servertest.Eventually(t, "the first server counts the run of the other", func() bool { return one.Script(t, "output 1").Status == 429 })
		one.Want(t, 200, "POST", "/api/v1/runs/"+id+"/cancel", nil)
		servertest.Eventually(t, "the run is no longer counted", func() bool { return one.Script(t, "output 1").Status == 200 })
		one.Want(t, 200, "PUT", "/api/v1/quotas/default", map[string]int{})
	}
	var health struct {
		Servers struct {
			Others             int
			Leading, Listening bool
		}
	}
	servertest.Eventually(t, "the servers listen again and know each other", func() bool { // After a pause, a lease is valid again.
		one.Want(t, 200, "GET", "/health", nil).Into(t, &health)
		return health.Servers.Listening && health.Servers.Others == 1
	})
	if !health.Servers.Leading {
		t.Errorf("the first server sees %+v", health.Servers)
	}
}

// stopListening ends the connections on which servers receive messages of the other servers.
func stopListening(t *testing.T, address string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // Ignore the error: nothing is written to this connection.
	if _, err := conn.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"); err != nil {
		t.Fatal(err)
	}
}

// A repeated request with the same idempotency key must get the same run at another server.
func TestReplicas_SameIdempotencyKey_SameRun(t *testing.T) {
	t.Parallel()
	all := replicas(t, 2)
	key := servertest.Headers{"Idempotency-Key": "one-request"}
	first := all[0].Script(t, "output 1", key).Run(t)
	if second := all[1].Script(t, "output 1", key).Run(t); second.RunID != first.RunID {
		t.Errorf("the runs are %s and %s", first.RunID, second.RunID)
	}
}

// The runs of a killed server must become interrupted, and a reader at another server must get this result.
func TestReplicas_KilledServer_RunsInterrupted(t *testing.T) {
	t.Parallel()
	all := replicas(t, 2)
	one, two := all[0], all[1]
	id, own := one.Start(t, "print begun\nwait"), two.Start(t, "wait")
	servertest.Eventually(t, "the other server says that the run is running", func() bool {
		return two.Do(t, "GET", "/api/v1/runs/"+id, nil).Status == 200 && two.Get(t, id).Status == "running"
	})
	socket := two.Stream(t, id, "")
	killed := time.Now()
	one.Signal(t, syscall.SIGKILL)
	one.Exit()
	events, err := socket.Rest(t)
	t.Logf("the stream ended %s after the kill", time.Since(killed).Round(100*time.Millisecond))
	if len(events) == 0 || events[len(events)-1].Kind != "result" || !bytes.Contains(events[len(events)-1].Data, []byte(`"interrupted"`)) {
		t.Errorf("the stream at the other server ends with %v, %v", events, err)
	}
	if got := two.Get(t, id); got.Status != "interrupted" {
		t.Errorf("the run is %s", got.Status)
	}
	if got := two.Get(t, own); got.Status != "running" {
		t.Errorf("a run of the other server is %s", got.Status)
	}
}

// Each server writes the drafts of skills into its own directory. A restart must not restore an older draft.
func TestReplicas_RestartedServer_KeepsNewerSkillDraft(t *testing.T) {
	t.Parallel()
	address, dir := storetest.Options(t, storetest.Postgres).URL, t.TempDir()
	start := func() *servertest.Process {
		p := servertest.SpawnWith(t, dir, []string{replicaKey}, "--database", address, "--replicas", "--token", kafkaToken)
		p.Token = kafkaToken
		return p
	}
	one, two := start(), replicas(t, 1, "--database", address)[0]
	save := func(at *servertest.Process, n string) {
		at.Want(t, 200, "POST", "/v1/skills/create", map[string]any{"name": "adder", "description": "Adds numbers up.", "code": "def run(action, args):\n    return " + n + "\n"})
	}
	save(one, "1")
	save(two, "2")
	one.Signal(t, syscall.SIGTERM)
	one.Exit()
	one = start()
	one.Want(t, 200, "GET", "/api/v1/skills", nil) // The request waits until the directory has been read.
	var agent struct {
		Draft struct{ Files map[string]string }
	}
	one.Want(t, 200, "GET", "/api/v1/code-agents/adder", nil).Into(t, &agent)
	if text := agent.Draft.Files["handler.py"]; !strings.Contains(text, "return 2") {
		t.Errorf("the draft is %+v", agent.Draft)
	}
}

// A program waits for an approval at a server that is killed. It must continue at another server, with the same
// variables and code, and must repeat neither its output nor its calls.
func TestReplicas_KilledServer_WaitingProgramContinuesElsewhere(t *testing.T) {
	t.Parallel()
	all := replicas(t, 2, "--monty", montytest.Program(t))
	one, two := all[0], all[1]
	one.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => n * 2", "requiresApproval": true})
	one.Publish(t, "asks", "1.0.0")
	one.Create(t, map[string]any{
		"name": "patient", "language": "python", "runtime": "monty", "capabilities": map[string]any{"tools": []string{"asks@^1"}}, "limits": map[string]any{"timeoutMs": 600_000},
		"code": "def main(n, ctx):\n    print('before')\n    seen = [n, ctx.call_tool('asks@^1', n=n)]\n    print('after')\n    return seen\n",
	})
	one.Publish(t, "patient", "1.0.0")
	outputs := map[string]string{}
	for n, version := range []string{"1.0.0", "draft"} {
		input := map[string]any{"input": map[string]any{"n": n + 4}}
		id := one.Want(t, http.StatusAccepted, "POST", "/api/v1/code-agents/patient/execute?version="+version, input, servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
		outputs[id] = fmt.Sprintf("[%d,%d]", n+4, 2*(n+4))
		servertest.Eventually(t, "the program waits", func() bool {
			return strings.Contains(string(two.Do(t, "GET", "/api/v1/runs/"+id+"/events", nil).Body), `"awaiting_approval"`)
		})
	}
	one.Want(t, 200, "PUT", "/api/v1/code-agents/patient", map[string]any{"code": "def main(n, ctx):\n    return 'changed'\n", "capabilities": map[string]any{}}, servertest.Headers{"If-Match": `"1"`})
	one.Signal(t, syscall.SIGKILL)
	one.Exit()
	var list struct{ Items []struct{ ID string } }
	two.Want(t, 200, "GET", "/api/v1/approvals?status=pending", nil).Into(t, &list)
	if len(list.Items) != len(outputs) {
		t.Fatalf("approvals %+v", list.Items)
	}
	for _, item := range list.Items {
		decide(t, two.Client, 200, item.ID, "approve", "", "")
	}
	for id, output := range outputs {
		if run := ended(t, two.Client, id); run.Status != "succeeded" || string(run.Output) != output || run.Stdout != "before\nafter\n" {
			t.Errorf("%+v %+v", run, run.Error)
		}
	}
	two.Want(t, 200, "GET", "/api/v1/runs?agent=asks", nil).Into(t, &list)
	if len(list.Items) != len(outputs) {
		t.Errorf("%d calls", len(list.Items))
	}
}
