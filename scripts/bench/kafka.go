package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/atelier-run/atelier/scripts/load"
)

const (
	kafkaMessages  = 20_000
	kafkaQuick     = 2_000
	kafkaSessions  = 256
	kafkaPatience  = 2 * time.Minute
	kafkaTool      = "noop-js"
	kafkaMust      = 2000
	kafkaMustDelay = 250
)

// kafka measures tool calls through two topics of a real Apache Kafka broker. It compares them with an echo, which uses
// the same client and the same transactions but runs no tool.
func (b *bench) kafka(ctx context.Context) (s section, err error) {
	s.title = "Tool calls through Apache Kafka, all on this machine"
	dir, err := os.MkdirTemp("/tmp", "bench-kafka")
	if err != nil {
		return s, err
	}
	defer func() {
		err = errors.Join(err, exec.Command("scripts/kafka.sh", "stop", dir).Run(), os.RemoveAll(dir)) // no context, so that the broker is always stopped
	}()
	text, err := exec.CommandContext(ctx, "scripts/kafka.sh", "start", dir).Output()
	if err != nil {
		return s, fmt.Errorf("start Kafka: %w", err)
	}
	broker := strings.TrimSpace(string(text))
	database, err := startPostgres(ctx)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, database.stop()) }()
	echoed, err := b.kafkaEcho(ctx, broker)
	if err != nil {
		return s, err
	}
	s.rows = append(s.rows, row{what: "bare echo of franz-go", measured: echoed.String()})
	for _, way := range []struct {
		name  string
		flags []string
	}{{"SQLite", nil}, {"PostgreSQL", []string{"--database", database.url}}} {
		rows, err := b.kafkaServer(ctx, broker, way.name, echoed, way.flags...)
		if err != nil {
			return s, err
		}
		s.rows = append(s.rows, rows...)
	}
	return s, ctx.Err()
}

// kafkaEcho measures the echo at full speed.
func (b *bench) kafkaEcho(ctx context.Context, broker string) (cell, error) {
	caller, err := newKafkaCaller(broker, kafkaTopics{"echo.requests", "echo.results"})
	if err != nil {
		return cell{}, err
	}
	defer caller.client.Close()
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- echo(ctx, broker, caller.topics) }()
	_, err = b.throughKafka(ctx, caller, 0) // this sample is not counted, because it includes the creation of the topics
	var sample *load.Sample
	if err == nil {
		sample, err = b.throughKafka(ctx, caller, 0)
	}
	stop()
	return cell{Sample: sample}, errors.Join(err, <-ended)
}

// kafkaServer measures a server at full speed, and then at half of the measured rate.
func (b *bench) kafkaServer(ctx context.Context, broker, name string, echoed cell, flags ...string) (rows []row, err error) {
	topics := kafkaTopics{name + ".requests", name + ".results"}
	caller, err := newKafkaCaller(broker, topics)
	if err != nil {
		return nil, err
	}
	defer caller.client.Close()
	server, err := load.Start(ctx, load.Options{Binary: b.binary, Flags: append([]string{
		"--kafka-brokers", broker, "--kafka-requests", topics.requests, "--kafka-results", topics.results, "--kafka-group", name + ".group", "--kafka-workspaces", "default=default,*=default",
	}, flags...)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	err = server.Publish(ctx, load.Program{Name: kafkaTool, Language: "javascript", Entrypoint: "main.js", Code: "export default (input) => input;\n",
		Takes: map[string]any{"type": "object"}, Gives: map[string]any{"type": "object"}})
	if err != nil {
		return nil, err
	}
	measure := func(rate float64) (cell, error) {
		var failed error
		c := b.observeOf(server, func() *load.Sample {
			sample, err := b.throughKafka(ctx, caller, rate)
			failed = err
			return sample
		})
		return c, failed
	}
	if _, err := measure(0); err != nil { // this sample is not counted, because the pools are cold
		return nil, err
	}
	full, err := measure(0)
	if err != nil {
		return nil, err
	}
	half, err := measure(full.PerSecond() / 2)
	if err != nil {
		return nil, err
	}
	r := row{what: name + ", as fast as possible", measured: fmt.Sprintf("%.0f/s", full.PerSecond()), floor: fmt.Sprintf("%.2f × echo", full.PerSecond()/echoed.PerSecond())}
	return []row{
		bar{must: kafkaMust, least: true, unit: "/s"}.judge(r, full.PerSecond(), full.most()),
		bar{must: kafkaMustDelay, unit: "ms p99"}.judge(row{what: name + ", half of that rate", measured: half.String()}, half.At(0.99), half.cost()),
	}, nil
}

type kafkaTopics struct{ requests, results string }

// kafkaCaller sends requests and reads their results. All passes of a measurement share one caller, so that no pass
// spends its time on the results of earlier passes.
type kafkaCaller struct {
	client *kgo.Client
	topics kafkaTopics
}

func newKafkaCaller(broker string, topics kafkaTopics) (kafkaCaller, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.AllowAutoTopicCreation(), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeTopics(topics.results),
		kgo.MetadataMinAge(100*time.Millisecond), kgo.MetadataMaxAge(time.Second), kgo.MaxBufferedRecords(2*kafkaMessages), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	return kafkaCaller{client, topics}, err
}

// echo copies requests to results. It uses the same transactions as the server's Kafka API.
func echo(ctx context.Context, broker string, topics kafkaTopics) error {
	group, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(broker), kgo.ConsumerGroup("echo"), kgo.ConsumeTopics(topics.requests), kgo.TransactionalID("echo"),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.RequireStableFetchOffsets(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AllowAutoTopicCreation(),
		kgo.MetadataMinAge(100*time.Millisecond), kgo.MetadataMaxAge(time.Second))
	if err != nil {
		return err
	}
	defer group.Close()
	for {
		fetches := group.PollRecords(ctx, 500)
		if ctx.Err() != nil {
			return nil
		}
		var answers []*kgo.Record
		fetches.EachRecord(func(r *kgo.Record) {
			answers = append(answers, &kgo.Record{Topic: topics.results, Key: r.Key, Value: r.Value})
		})
		if len(answers) == 0 {
			continue
		}
		if err := group.Begin(); err != nil {
			return err
		}
		produced := group.ProduceSync(context.WithoutCancel(ctx), answers...)
		if _, err := group.End(context.WithoutCancel(ctx), kgo.TransactionEndTry(produced.FirstErr() == nil)); err != nil {
			return err
		}
	}
}

// kafkaEvent is the part of a request or a result that the measurement reads.
type kafkaEvent struct {
	EventID   string         `json:"event_id"`
	SessionID string         `json:"session_id"`
	ToolName  string         `json:"tool_name"`
	Status    string         `json:"status,omitempty"`
	Args      map[string]any `json:"args,omitempty"`
	Payload   map[string]any `json:"payload,omitempty"`
	Metadata  map[string]any `json:"metadata"`
}

// throughKafka sends requests and waits for their results. It sends at a rate per second, or all requests at once if
// the rate is 0. The time of a request starts at its scheduled time. Each request must have exactly one result, with
// the request's number.
func (b *bench) throughKafka(ctx context.Context, caller kafkaCaller, rate float64) (*load.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, kafkaPatience)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	count := kafkaMessages
	switch {
	case rate > 0:
		count = max(1, int(min(rate*b.span.Seconds(), kafkaMessages)))
	case b.quick:
		count = kafkaQuick
	}
	pass := fmt.Sprintf("%d/", time.Now().UnixNano())
	due := make([]time.Time, count)
	began := time.Now()
	for n := range due {
		due[n] = began
		if rate > 0 {
			due[n] = began.Add(time.Duration(float64(n) / rate * float64(time.Second)))
		}
	}
	go func() {
		if err := sendToKafka(ctx, caller.client, caller.topics.requests, pass, due); err != nil {
			fail(fmt.Errorf("send requests: %w", err))
		}
	}()
	sample := &load.Sample{Times: make([]time.Duration, 0, count)}
	seen := make([]bool, count)
	for len(sample.Times) < count {
		fetches := caller.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return sample, fmt.Errorf("%d of %d results came: %w", len(sample.Times), count, context.Cause(ctx))
		}
		now := time.Now()
		fetches.EachRecord(func(r *kgo.Record) { // skips results of earlier passes that came late
			n, err := resultOf(r.Value, pass)
			if err != nil {
				fail(err)
			}
			if n >= 0 && n < count {
				if seen[n] {
					sample.Wrong++
					sample.Fault = fmt.Errorf("request %d has two results", n)
					return
				}
				seen[n] = true
				sample.Times = append(sample.Times, now.Sub(due[n]))
			}
		})
	}
	sample.Span = time.Since(began)
	slices.Sort(sample.Times)
	return sample, sample.Fault
}

func sendToKafka(ctx context.Context, client *kgo.Client, topic, pass string, due []time.Time) error {
	var failed kgo.FirstErrPromise
	for n, at := range due {
		if wait := time.Until(at); wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		session := fmt.Sprint(n % kafkaSessions)
		text, err := json.Marshal(kafkaEvent{EventID: fmt.Sprint(pass, n), SessionID: session, ToolName: kafkaTool, Args: map[string]any{"n": n}, Metadata: map[string]any{}})
		if err != nil {
			return err
		}
		client.Produce(ctx, &kgo.Record{Topic: topic, Key: []byte(session), Value: text}, failed.Promise())
	}
	return errors.Join(client.Flush(ctx), failed.Err())
}

// resultOf returns the number of the request that a message answers. It returns -1 if the message belongs to another pass.
func resultOf(text []byte, pass string) (int, error) {
	var got kafkaEvent
	if json.Unmarshal(text, &got) != nil {
		return -1, nil
	}
	id, values := got.EventID, got.Args
	if request, is := got.Metadata["request_id"].(string); is {
		id, values = request, got.Payload
	}
	number, own := strings.CutPrefix(id, pass)
	if !own {
		return -1, nil
	}
	n, err := strconv.Atoi(number)
	if value, is := values["n"].(float64); err != nil || !is || int(value) != n || got.Status != "" && got.Status != "success" {
		return -1, fmt.Errorf("the result of request %s is wrong: %s", number, text)
	}
	return n, nil
}
