package servertest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/servertest"
)

// numbered returns numbered requests of a tool, distributed over sessions in turn. The key of a record is its session.
func numbered(tool string, sessions, each int) (all []*kgo.Record) {
	for n := range each {
		for s := range sessions {
			session := fmt.Sprint("session ", s)
			r := bareRecord(toolRequest(fmt.Sprintf("%d/%d", s, n), session, tool, map[string]any{"n": n}))
			r.Key = []byte(session)
			all = append(all, r)
		}
	}
	return all
}

// wantNumbered checks that each request has exactly one successful result, in the order of its session.
func wantNumbered(t *testing.T, k *kafka, count int) {
	t.Helper()
	k.await(t, "every result comes", func() bool { return len(k.seen["results"]) >= count })
	next := map[string]float64{}
	for _, r := range k.seen["results"] {
		var got toolResult
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatal(err)
		}
		if n, _ := got.Payload["n"].(float64); got.Status != "success" || n != next[got.SessionID] {
			t.Fatalf("%s: %s, want number %v", got.SessionID, r.Value, next[got.SessionID])
		}
		next[got.SessionID]++
	}
	if len(k.seen["results"]) != count {
		t.Errorf("%d requests have %d results", count, len(k.seen["results"]))
	}
}

var kafkaEcho = map[string]any{"name": "echo", "language": "javascript", "code": "export default (input) => input"}

// The broker stops while requests run. /health and the metrics must report this, and the other APIs must work. When the
// broker is back, every request must get one result.
func TestKafka_BrokerEndsInMidRun_OneResultEach(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	k.client.Close()
	dir := t.TempDir()
	script := func(command string) string {
		cmd := exec.Command("../../scripts/kafka.sh", command, dir)
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("kafka.sh %s: %v", command, err)
		}
		return strings.TrimSpace(string(text))
	}
	t.Cleanup(func() { script("stop") })
	k.connect(t, script("start"))
	p := kafkaServer(t, k, t.TempDir())
	p.Create(t, kafkaEcho)
	p.Publish(t, "echo", "1.0.0")
	const sessions, each = 20, 50
	k.send(t, numbered("echo", sessions, each)...)
	k.await(t, "results come before the broker ends", func() bool { return len(k.seen["results"]) > 0 })
	script("stop")
	servertest.Eventually(t, "the metrics say that there is no connection", func() bool {
		return strings.Contains(string(p.Want(t, 200, "GET", "/metrics", nil).Body), "\natelier_kafka_connected 0\n")
	})
	var health struct{ Status string }
	if p.Want(t, 200, "GET", "/health", nil).Into(t, &health); health.Status != "degraded" {
		t.Errorf("the server is %s without a broker", health.Status)
	}
	if broker := p.Component(t, "kafka"); broker.State != "down" || broker.Reason == "" {
		t.Errorf("without a broker the server is ready with %+v", broker)
	}
	if run := p.Execute(t, "echo", "1.0.0", map[string]any{"n": 1}); run.Status != "succeeded" {
		t.Errorf("without a broker: %+v", run)
	}
	script("start")
	wantNumbered(t, k, sessions*each)
	servertest.Eventually(t, "the metrics say that the connection is back", func() bool {
		return strings.Contains(string(p.Want(t, 200, "GET", "/metrics", nil).Body), "\natelier_kafka_connected 1\n")
	})
	if broker := p.Component(t, "kafka"); broker.State != "up" {
		t.Errorf("with a broker the server is ready with %+v", broker)
	}
}

// A slow tool must not delay results of other sessions in its partition, even if there are more requests than the
// server keeps for one partition.
func TestKafka_SlowTool_OthersAreAnswered(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	p := kafkaServer(t, k, t.TempDir())
	p.Create(t, kafkaEcho)
	p.Publish(t, "echo", "1.0.0")
	p.Create(t, map[string]any{"name": "waits", "language": "javascript", "limits": map[string]any{"timeoutMs": 600_000}, "code": "export default () => new Promise(() => setInterval(() => {}, 1000))"})
	p.Publish(t, "waits", "1.0.0")
	slow := bareRecord(toolRequest("slow", "slow", "waits", map[string]any{}))
	slow.Key = []byte("one partition")
	requests := numbered("echo", 60, 20)
	for _, r := range requests {
		r.Key = slow.Key
	}
	k.send(t, append([]*kgo.Record{slow}, requests...)...)
	wantNumbered(t, k, len(requests))
	var list struct{ Items []servertest.Run }
	servertest.Eventually(t, "the slow tool is running", func() bool {
		p.Want(t, 200, "GET", "/api/v1/runs?status=running", nil).Into(t, &list)
		return len(list.Items) == 1
	})
	p.Want(t, 200, "POST", "/api/v1/runs/"+list.Items[0].RunID+"/cancel", nil)
	k.await(t, "the slow tool is answered", func() bool { return len(k.seen["results"]) > len(requests) })
}

// A result that does not fit in a message, and an output that violates the schema of results, must be answered with an
// error. The stored runs must contain the outputs.
func TestKafka_ResultThatCannotBePublished_RunKeepsIt(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	p := kafkaServer(t, k, t.TempDir())
	p.Create(t, map[string]any{"name": "large", "language": "javascript", "code": "export default () => 'x'.repeat(1000000)"})
	p.Publish(t, "large", "1.0.0")
	p.Create(t, map[string]any{"name": "wrong", "language": "javascript", "code": "export default () => ({n: 'many'})",
		"outputSchema": map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}})
	p.Publish(t, "wrong", "1.0.0")
	k.send(t, bareRecord(toolRequest("large", "a", "large", map[string]any{})), bareRecord(toolRequest("wrong", "b", "wrong", map[string]any{})))
	k.await(t, "both answers come", func() bool { return len(k.seen["results"]) >= 2 })
	for _, r := range k.seen["results"] {
		var got toolResult
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]struct {
			message string
			bytes   int
		}{"large": {"exceeds --kafka-message-bytes", 1_000_002}, "wrong": {"output schema", len(`{"n":"many"}`)}}[got.ToolName]
		if message := fmt.Sprint(got.Payload["message"]); got.Status != "error" || !strings.Contains(message, want.message) {
			t.Errorf("%s: %.500s", got.ToolName, r.Value)
		}
		if run := p.Get(t, fmt.Sprint(got.Metadata["run_id"])); len(run.Output) != want.bytes {
			t.Errorf("%s: the run keeps %d bytes of output, want %d", got.ToolName, len(run.Output), want.bytes)
		}
	}
}

// Ajv must accept the requests and results in the topics, with the schemas of the existing executor.
func TestKafka_ForeignValidator_AcceptsMessages(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node is not on this machine")
	}
	k := withKafka(t)
	p := kafkaServer(t, k, t.TempDir(), "--kafka-timeout", "2")
	for name, code := range map[string]string{
		"echo": "export default (input) => input", "seven": "export default () => { console.log('seven'); return 7 }",
		"fails": "export default () => { throw new Error('no luck') }", "forever": "export default () => { for (;;); }",
	} {
		p.Create(t, map[string]any{"name": name, "language": "javascript", "code": code})
		p.Publish(t, name, "1.0.0")
	}
	var sent []*kgo.Record
	for _, tool := range []string{"echo", "seven", "fails", "forever", "unknown"} {
		for _, persona := range []any{nil, "someone"} {
			request := toolRequest(fmt.Sprint(tool, persona), "s"+tool, tool, map[string]any{"deep": []any{map[string]any{"text": "æ\u0000"}, nil, 1.5}})
			request["persona_id"], request["trace_context"] = persona, map[string]string{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
			sent = append(sent, bareRecord(request))
		}
	}
	k.send(t, sent...)
	k.await(t, "every answer comes", func() bool { return len(k.seen["results"]) >= len(sent) })
	statuses := map[string]bool{}
	for _, r := range k.seen["results"] {
		var got toolResult
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatal(err)
		}
		statuses[got.Status] = true
	}
	if !statuses["success"] || !statuses["error"] || !statuses["timeout"] {
		t.Errorf("only these statuses came: %v", statuses)
	}
	wrong := bareRecord(map[string]any{"event_id": "e", "status": "well"})
	for _, one := range []struct {
		schema   string
		messages []*kgo.Record
		accepted bool
	}{{"tool_request", sent, true}, {"tool_result", k.seen["results"], true}, {"tool_request", []*kgo.Record{wrong}, false}, {"tool_result", []*kgo.Record{wrong}, false}} {
		var lines bytes.Buffer
		for _, r := range one.messages {
			lines.Write(append(r.Value, '\n'))
		}
		dir := filepath.Join("testdata", "executor")
		cmd := exec.Command("node", filepath.Join(dir, "validate.cjs"), filepath.Join(dir, one.schema+".json"))
		cmd.Stdin = &lines
		text, err := cmd.CombinedOutput()
		if err != nil || one.accepted != (len(text) == 0) {
			t.Errorf("Ajv and %s: %v %s", one.schema, err, text)
		}
	}
}

// The database fails over to its standby while requests run. Each request must have one successful result.
func TestKafka_DatabaseFailsOver_OneResultEach(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	cluster := storetest.NewCluster(t)
	cluster.Standby(t)
	p := kafkaServer(t, k, t.TempDir(), "--database", cluster.URL)
	p.Create(t, kafkaEcho)
	p.Publish(t, "echo", "1.0.0")
	const sessions, each = 20, 50
	requests := numbered("echo", sessions, each)
	k.send(t, requests[:len(requests)/2]...)
	k.await(t, "results come before the database fails over", func() bool { return len(k.seen["results"]) > 0 })
	cluster.FailOver(t)
	k.send(t, requests[len(requests)/2:]...)
	wantNumbered(t, k, len(requests))
}

// Two servers whose clocks differ by a minute share the requests. Neither server may interrupt runs of the other, and
// each request must have one successful result.
func TestKafka_ClocksApart_OneResultEach(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	database := storetest.Options(t, storetest.Postgres).URL
	var servers []*servertest.Server
	for _, apart := range []time.Duration{0, time.Minute} {
		flags := map[string]string{
			"database": database, "replicas": "true", "secrets-key": strings.TrimPrefix(replicaKey, "ATELIER_SECRETS_KEY="),
			"kafka-brokers": k.brokers, "kafka-requests": k.prefix + "requests", "kafka-results": k.prefix + "results", "kafka-events": "off", "kafka-group": k.prefix + "group",
		}
		servers = append(servers, servertest.New(t, servertest.Flags(t, flags), func(o *app.Options) {
			o.Now = func() time.Time { return time.Now().Add(apart) }
		}))
	}
	servers[0].Create(t, kafkaEcho)
	servers[0].Publish(t, "echo", "1.0.0")
	const sessions, each = 40, 25
	k.send(t, numbered("echo", sessions, each)...)
	wantNumbered(t, k, sessions*each)
	for n, s := range servers {
		metrics := string(s.Do(t, "GET", "/metrics", nil).Body)
		if !strings.Contains(metrics, "\natelier_leases_expired_total 0\n") {
			t.Errorf("server %d ended the lease of the other", n)
		}
	}
}
