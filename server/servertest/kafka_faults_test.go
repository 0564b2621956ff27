package servertest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// Without a broker the other APIs must work. /health and the metrics must report that Kafka is not connected.
func TestKafka_NoBroker_OtherAPIsWork(t *testing.T) {
	t.Parallel()
	p := servertest.Spawn(t, t.TempDir(), "--token", kafkaToken, "--script-runtime", "--kafka-brokers", "127.0.0.1:1")
	p.Token = kafkaToken
	var health struct {
		Status string
		Kafka  struct {
			Connected bool
			Reason    string
		}
	}
	servertest.Eventually(t, "health says why", func() bool {
		p.Want(t, 200, "GET", "/health", nil).Into(t, &health)
		return strings.Contains(health.Kafka.Reason, "connection refused")
	})
	if strings.Contains(health.Kafka.Reason, "127.0.0.1") {
		t.Errorf("everybody reads the broker's address: %s", health.Kafka.Reason)
	}
	if health.Status != "degraded" || health.Kafka.Connected {
		t.Errorf("%+v", health)
	}
	if metrics := string(p.Want(t, 200, "GET", "/metrics", nil).Body); !strings.Contains(metrics, "\natelier_kafka_connected 0\n") {
		t.Error("the metrics do not say that there is no connection")
	}
	p.Script(t, "output 1").Run(t)
}

// A second server joins while requests run, and then the first one stops, so partitions move twice. Every request must
// succeed once, in the order of its session.
func TestKafka_Rebalance_EveryRequestSucceedsOnce(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	flags := append(k.flags()[2:], "--database", storetest.Options(t, storetest.Postgres).URL) // The helper replicas sets the token.
	one := replicas(t, 1, flags...)[0]
	one.Create(t, map[string]any{"name": "echo", "language": "javascript", "code": "export default (input) => input"})
	one.Publish(t, "echo", "1.0.0")
	const sessions, each = 20, 100
	var requests []*kgo.Record
	for n := range each {
		for s := range sessions {
			r := bareRecord(toolRequest(fmt.Sprintf("%d/%d", s, n), fmt.Sprint("session ", s), "echo", map[string]any{"n": n}))
			r.Key = []byte(fmt.Sprint("session ", s))
			requests = append(requests, r)
		}
	}
	half := len(requests) / 2
	k.send(t, requests[:half]...)
	k.await(t, "results come before the second server", func() bool { return len(k.seen["results"]) > 0 })
	replicas(t, 1, flags...)
	k.send(t, requests[half:]...)
	k.await(t, "results come before the first server stops", func() bool { return len(k.seen["results"]) > half/2 })
	one.Signal(t, syscall.SIGTERM)
	if code := one.Exit(); code != 0 {
		t.Errorf("the first server ended with %d", code)
	}
	k.await(t, "every result comes", func() bool { return len(k.seen["results"]) >= len(requests) })
	next := map[string]float64{}
	for _, r := range k.seen["results"] {
		var got toolResult
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatal(err)
		}
		if n, _ := got.Payload["n"].(float64); got.Status != "success" || n != next[got.SessionID] {
			t.Fatalf("%s: %+v, want number %v", got.SessionID, got, next[got.SessionID])
		}
		next[got.SessionID]++
	}
}

// A request of 20 MB must be answered with an error, and the following requests must run.
func TestKafka_LargeRequest_AnsweredWithError(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	p := kafkaServer(t, k, t.TempDir())
	p.Create(t, map[string]any{"name": "echo", "language": "javascript", "code": "export default (input) => input"})
	p.Publish(t, "echo", "1.0.0")
	k.send(t, bareRecord(toolRequest("large", "s", "echo", map[string]any{"text": strings.Repeat("x", 20<<20)})), bareRecord(toolRequest("small", "s", "echo", map[string]any{"n": 1})))
	k.await(t, "both answers come", func() bool { return len(k.seen["results"]) >= 2 })
	for _, r := range k.seen["results"] {
		var got toolResult
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"large": "error", "small": "success"}[fmt.Sprint(got.Metadata["request_id"])]; got.Status != want {
			t.Errorf("%.500s, want %s", r.Value, want)
		}
	}
}

// TestKafka_Limits_HoldForTools runs tools that exceed the processor time and the memory of the settings.
func TestKafka_Limits_HoldForTools(t *testing.T) {
	t.Parallel()
	k := withKafka(t)
	p := kafkaServer(t, k, t.TempDir(), "--kafka-timeout", "60", "--kafka-cpu-seconds", "1", "--kafka-memory-mb", "64")
	for name, code := range map[string]string{
		"spins": "def main(input):\n    while True: pass\n",
		"grows": "def main(input):\n    return len(bytearray(200 << 20))\n",
		"small": "def main(input):\n    return len(bytearray(8 << 20))\n",
	} {
		p.Create(t, map[string]any{"name": name, "language": "python", "code": code})
		p.Publish(t, name, "1.0.0")
	}
	k.send(t, bareRecord(toolRequest("1", "a", "spins", map[string]any{})), bareRecord(toolRequest("2", "b", "grows", map[string]any{})), bareRecord(toolRequest("3", "c", "small", map[string]any{})))
	k.await(t, "every answer comes", func() bool { return len(k.seen["results"]) >= 3 })
	ended := map[string]string{}
	for _, record := range k.seen["results"] {
		var one toolResult
		if err := json.Unmarshal(record.Value, &one); err != nil {
			t.Fatal(err)
		}
		id, _ := one.Metadata["run_id"].(string)
		run := p.Get(t, id)
		ended[one.ToolName] = one.Status
		if run.Error != nil {
			ended[one.ToolName] += " " + string(run.Error.Type)
		}
	}
	if want := map[string]string{"spins": "timeout timeout", "grows": "error memory_limit", "small": "success"}; !maps.Equal(ended, want) {
		t.Errorf("ended as %v, want %v", ended, want)
	}
}
