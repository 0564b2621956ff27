package servertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/atelier-run/atelier/server/servertest"
)

const kafkaToken = "a-token-that-is-long-enough-to-be-one"

// kafka is a connection to a real broker, with the topics of one test.
type kafka struct {
	brokers string
	prefix  string
	client  *kgo.Client // client that produces requests and reads the results of committed transactions
	seen    map[string][]*kgo.Record
}

// withKafka connects to the broker that scripts/kafka.sh has started.
func withKafka(t *testing.T) *kafka {
	t.Helper()
	brokers := os.Getenv("ATELIER_TEST_KAFKA")
	if brokers == "" {
		t.Skip("no Kafka: ATELIER_TEST_KAFKA is not set; scripts/kafka.sh start DIR starts one")
	}
	k := &kafka{prefix: fmt.Sprintf("test.%d.", time.Now().UnixNano()), seen: map[string][]*kgo.Record{}}
	k.connect(t, brokers)
	return k
}

// connect connects to a broker.
func (k *kafka) connect(t *testing.T, brokers string) {
	t.Helper()
	var err error
	k.brokers = brokers
	k.client, err = kgo.NewClient(kgo.SeedBrokers(brokers), kgo.AllowAutoTopicCreation(), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ProducerBatchMaxBytes(24<<20),
		kgo.ConsumeTopics(k.prefix+"results", k.prefix+"requests.dlq", k.prefix+"events"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.MetadataMinAge(100*time.Millisecond), kgo.MetadataMaxAge(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.client.Close)
}

// flags returns the flags of a server that uses the topics of the test.
func (k *kafka) flags() []string {
	return []string{
		"--token", kafkaToken, "--kafka-brokers", k.brokers, "--kafka-requests", k.prefix + "requests", "--kafka-results", k.prefix + "results",
		"--kafka-events", k.prefix + "events", "--kafka-group", k.prefix + "group",
	}
}

func (k *kafka) send(t *testing.T, records ...*kgo.Record) {
	t.Helper()
	for _, r := range records {
		r.Topic = k.prefix + "requests"
	}
	if err := k.client.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// await reads records until a condition holds.
func (k *kafka) await(t *testing.T, what string, enough func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for !enough() {
		fetches := k.client.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%s: %d results, %d dead letters, %d events", what, len(k.seen["results"]), len(k.seen["requests.dlq"]), len(k.seen["events"]))
		}
		fetches.EachRecord(func(r *kgo.Record) {
			name := strings.TrimPrefix(r.Topic, k.prefix)
			k.seen[name] = append(k.seen[name], r)
		})
	}
}

type toolResult struct {
	EventID       string            `json:"event_id"`
	SessionID     string            `json:"session_id"`
	ToolName      string            `json:"tool_name"`
	Status        string            `json:"status"`
	Payload       map[string]any    `json:"payload"`
	Metadata      map[string]any    `json:"metadata"`
	ExecutionTime float64           `json:"execution_time"`
	TraceContext  map[string]string `json:"trace_context"`
}

func toolRequest(id, session, tool string, args any) map[string]any {
	return map[string]any{"event_id": id, "session_id": session, "tool_name": tool, "args": args, "metadata": map[string]any{"channel": "test"}}
}

func bareRecord(event any) *kgo.Record {
	text, _ := json.Marshal(event)
	return &kgo.Record{Value: text}
}

func recordHeader(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}

func kafkaServer(t *testing.T, k *kafka, data string, more ...string) *servertest.Process {
	t.Helper()
	p := servertest.Spawn(t, data, append(k.flags(), more...)...)
	p.Token = kafkaToken
	return p
}

// An answer has the same form as its request. An invalid request is copied to the dead letter topic. It is also
// answered if it has the fields that an answer needs.
func TestKafka(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	p := kafkaServer(t, k, t.TempDir(), "--kafka-timeout", "2", "--kafka-workspaces", "default=default,other=default")
	p.Create(t, map[string]any{"name": "double", "language": "javascript", "code": "export default ({n}) => { console.log('doubling'); return {n: n * 2} }",
		"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []string{"n"}}})
	p.Publish(t, "double", "1.0.0")
	p.Create(t, map[string]any{"name": "fails", "language": "javascript", "code": "export default () => { throw new Error('no luck') }"})
	p.Publish(t, "fails", "1.0.0")
	p.Create(t, map[string]any{"name": "forever", "language": "javascript", "code": "export default () => { for (;;); }"})
	p.Publish(t, "forever", "1.0.0")
	p.Create(t, map[string]any{"name": "seven", "language": "javascript", "code": "export default () => 7"})
	p.Publish(t, "seven", "1.0.0")

	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	plain := bareRecord(toolRequest("plain", "s", "double", map[string]any{"n": 21}))
	plain.Headers = []kgo.RecordHeader{{Key: "traceparent", Value: []byte(trace)}}
	inBinary := bareRecord(toolRequest("binary", "s", "double@1.0.0", map[string]any{"n": 1}))
	inBinary.Headers = []kgo.RecordHeader{{Key: "ce_specversion", Value: []byte("1.0")}, {Key: "ce_id", Value: []byte("x")}, {Key: "ce_type", Value: []byte("t")}, {Key: "ce_source", Value: []byte("/test")}}
	inOne := bareRecord(map[string]any{"specversion": "1.0", "id": "x", "type": "t", "source": "/test", "data": toolRequest("structured", "s", "double@^1", map[string]any{"n": 2})})
	inOne.Headers = []kgo.RecordHeader{{Key: "content-type", Value: []byte("application/cloudevents+json; charset=UTF-8")}}
	elsewhere := toolRequest("tenant", "s", "double", map[string]any{"n": 3})
	elsewhere["metadata"] = map[string]any{"tenant": "nobody"}
	incomplete := toolRequest("incomplete", "s", "double", map[string]any{"n": 3})
	delete(incomplete, "args")
	k.send(t, plain, inBinary, inOne, bareRecord(elsewhere), bareRecord(incomplete), bareRecord(map[string]any{"hello": "there"}), &kgo.Record{Value: []byte("{")},
		bareRecord(toolRequest("fails", "s", "fails", map[string]any{})), bareRecord(toolRequest("forever", "t", "forever", map[string]any{})),
		bareRecord(toolRequest("unknown", "s", "nothing", map[string]any{})), bareRecord(toolRequest("wrong", "s", "double", map[string]any{"n": "many"})),
		bareRecord(toolRequest("seven", "s", "seven", map[string]any{})), bareRecord(toolRequest("plain", "s", "double", map[string]any{"n": 21})))
	k.await(t, "every answer comes", func() bool {
		return len(k.seen["results"]) >= 11 && len(k.seen["requests.dlq"]) >= 3 && len(k.seen["events"]) >= 20
	})

	results, records := map[string]toolResult{}, map[string]*kgo.Record{}
	for _, r := range k.seen["results"] {
		value := r.Value
		if strings.HasPrefix(recordHeader(r, "content-type"), "application/cloudevents") {
			var outer struct{ Data json.RawMessage }
			if err := json.Unmarshal(value, &outer); err != nil {
				t.Fatal(err)
			}
			value = outer.Data
		}
		var one toolResult
		if err := json.Unmarshal(value, &one); err != nil {
			t.Fatal(err)
		}
		id, _ := one.Metadata["request_id"].(string)
		if before, ok := results[id]; ok && (id != "plain" || before.EventID != one.EventID || before.Metadata["run_id"] != one.Metadata["run_id"]) {
			t.Errorf("%s has different results: %+v, %+v", id, before, one)
		}
		results[id], records[id] = one, r
	}
	for id, want := range map[string]struct{ status, payload string }{
		"plain": {"success", `{"n":42}`}, "binary": {"success", `{"n":2}`}, "structured": {"success", `{"n":4}`}, "seven": {"success", `{"result":7}`},
		"fails": {"error", "no luck"}, "forever": {"timeout", "message"}, "unknown": {"error", "Unknown tool 'nothing'"},
		"wrong": {"error", "input/n"}, "tenant": {"error", "has no workspace"}, "incomplete": {"error", "args"},
	} {
		got := results[id]
		text, _ := json.Marshal(got.Payload)
		if got.Status != want.status || !strings.Contains(string(text), want.payload) || got.SessionID == "" || got.EventID == id {
			t.Errorf("%s: got %+v, want %+v", id, got, want)
		}
	}
	if got := results["plain"]; got.Metadata["channel"] != "test" || fmt.Sprint(got.Metadata["sandbox_logs"]) != "[doubling]" || got.Metadata["reference"] != "double@1.0.0" || got.ExecutionTime <= 0 {
		t.Errorf("the metadata are %+v", got)
	}
	if recordHeader(records["binary"], "ce_specversion") != "1.0" || recordHeader(records["binary"], "ce_type") == "" {
		t.Errorf("a binary event is answered with %v", records["binary"].Headers)
	}
	if !strings.HasPrefix(recordHeader(records["structured"], "content-type"), "application/cloudevents+json") {
		t.Errorf("a structured event is answered with %v", records["structured"].Headers)
	}
	for _, r := range k.seen["requests.dlq"] {
		if recordHeader(r, "dlq-topic") != k.prefix+"requests" || recordHeader(r, "dlq-error") == "" || recordHeader(r, "dlq-offset") == "" {
			t.Errorf("a dead letter says %v", r.Headers)
		}
	}
	run := p.Get(t, results["plain"].Metadata["run_id"].(string))
	if run.Trigger != "kafka" {
		t.Errorf("the run is %+v", run)
	}
}

// After five kills under load, every request must have exactly one result, and the results of a session must have the
// order of the requests.
func TestKafka_Killed_OneResultEach(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	data := t.TempDir()
	p := kafkaServer(t, k, data)
	p.Create(t, map[string]any{"name": "echo", "language": "javascript", "code": "export default (input) => input"})
	p.Publish(t, "echo", "1.0.0")
	const sessions, each, kills = 40, 250, 5
	var requests []*kgo.Record
	for n := range each {
		for s := range sessions {
			r := bareRecord(toolRequest(fmt.Sprintf("%d/%d", s, n), fmt.Sprint("session ", s), "echo", map[string]any{"n": n}))
			r.Key = []byte(fmt.Sprint("session ", s))
			requests = append(requests, r)
		}
	}
	k.send(t, requests...)
	for kill := range kills {
		k.await(t, fmt.Sprintf("results come before kill %d", kill), func() bool { return len(k.seen["results"]) > kill*sessions*each/(2*kills) })
		p.Signal(t, syscall.SIGKILL)
		p.Exit()
		p = kafkaServer(t, k, data)
	}
	k.await(t, "every result comes", func() bool { return len(k.seen["results"]) >= sessions*each })
	last, ids := map[string]float64{}, map[string]bool{}
	for _, r := range k.seen["results"] {
		var one toolResult
		if err := json.Unmarshal(r.Value, &one); err != nil {
			t.Fatal(err)
		}
		id, _ := one.Metadata["request_id"].(string)
		if ids[id] {
			t.Errorf("%s has two results", id)
		}
		ids[id] = true
		if one.Status != "success" { // The request ran when the server was killed, and must not run twice.
			continue
		}
		n, _ := one.Payload["n"].(float64)
		if before, ok := last[one.SessionID]; ok && n <= before {
			t.Errorf("%s: %v comes after %v", one.SessionID, n, before)
		}
		last[one.SessionID] = n
	}
	if len(ids) != sessions*each {
		t.Errorf("%d of %d requests have results", len(ids), sessions*each)
	}
}
