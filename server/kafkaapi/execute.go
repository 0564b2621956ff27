package kafkaapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/propagation"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/runs"
)

// delivery is a Kafka record with the request that it contains.
type delivery struct {
	request
	record *kgo.Record
	form   envelope
	trace  string
	err    error // reason why the request is not valid
}

func (a *API) receive(record *kgo.Record) delivery {
	event, form, trace := open(record)
	r, err := a.schemas.parse(event)
	if trace == "" {
		trace = r.TraceContext[headerTraceText]
	}
	return delivery{request: r, record: record, form: form, trace: trace, err: err}
}

// answerTo returns the records that answer a request. If the membership has ended, it returns false.
func (c *consumer) answerTo(ctx, abort context.Context, item *work) ([]*kgo.Record, bool) {
	if item.err != nil {
		return c.refuse(item.delivery), true
	}
	select {
	case <-ctx.Done():
		return nil, false
	case c.places <- struct{}{}:
	}
	defer func() { <-c.places }()
	c.awaitPublication(item)
	if ctx.Err() != nil {
		return nil, false
	}
	answer, ok := c.run(ctx, abort, item.delivery)
	if !ok {
		return nil, false
	}
	return c.publish(item.delivery, answer), true
}

// refuse returns the records that answer an invalid request.
func (a *API) refuse(d delivery) []*kgo.Record {
	all := []*kgo.Record{a.deadLetter(d)}
	if d.answerable() {
		all = append(all, a.publish(d, d.answer().failed(statusError, problem(d.err)))...)
	}
	return all
}

// run executes a tool. If the server is temporarily unable to start the run, it waits and tries again. It returns false if
// the run did not end because the server stops.
func (a *API) run(ctx, abort context.Context, d delivery) (result, bool) {
	answer := d.answer()
	workspace, ok := a.Kafka.Workspaces[d.tenant()]
	if !ok {
		workspace, ok = a.Kafka.Workspaces["*"]
	}
	if !ok {
		return answer.failed(statusError, "metadata.tenant "+strconv.Quote(d.tenant())+" has no workspace. The operator of the server can set one with --kafka-workspaces."), true
	}
	actor := registry.Actor{ID: "kafka", Type: registry.SystemActor, Name: "Kafka", Workspace: workspace}
	agent, version := d.reference()
	carrier := propagation.MapCarrier{headerTraceText: d.trace, "tracestate": d.TraceContext["tracestate"]}
	traced := a.Propagate.Extract(abort, carrier)
	sum := sha256.Sum256(slices.Concat([]byte(d.ToolName+"\n"), d.Args))
	key := registry.IdempotencyKey{Workspace: workspace, Owner: workspace + "/kafka", Key: d.EventID, BodyHash: hex.EncodeToString(sum[:])}
	a.tellStart(d)
	for {
		key.ExpiresAt = a.Now().Add(keyFor)
		run, err := a.Runs.Once(traced, actor, a.Keys, key, runs.Request{
			Agent: agent, Version: version, Input: d.Args, Trigger: registry.TriggerKafka, RequestID: d.EventID, AtMost: a.Kafka.Limits(), Hints: d.hints(),
		})
		switch {
		case err == nil:
			return answer.of(run), true
		case abort.Err() != nil || fault.Is(err, fault.ShuttingDown):
			return answer, false
		case !passing(err):
			return a.refused(traced, answer, d, err), true
		}
		pause(ctx, wait(err))
		if ctx.Err() != nil {
			return answer, false
		}
	}
}

// passing reports whether an error is temporary. After such an error, the request waits and is not answered yet.
func passing(err error) bool {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.QuotaExceeded && f.RetryAfter <= time.Minute { // The quota of concurrent runs is used up.
		return true
	}
	for _, code := range []fault.Code{fault.QueueFull, fault.TooManyRequests, fault.StorageUnavailable, fault.SandboxUnavailable, fault.RunInterrupted} {
		if fault.Is(err, code) {
			return true
		}
	}
	return false
}

// wait returns the delay before the next attempt after a temporary error.
func wait(err error) time.Duration {
	var f *fault.Error
	if errors.As(err, &f) && f.RetryAfter > 0 {
		return min(f.RetryAfter, 5*time.Second)
	}
	return 200 * time.Millisecond
}

// refused returns the result of a request for which no run was created.
func (a *API) refused(ctx context.Context, answer result, d delivery, err error) result {
	switch {
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.NoVersion):
		return answer.failed(statusError, "Unknown tool '"+d.ToolName+"'")
	case fault.Is(err, fault.Forbidden), fault.Is(err, fault.QuotaExceeded), fault.Is(err, fault.BudgetExceeded):
		return answer.failed(statusBlocked, problem(err))
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Code == fault.Internal {
		a.Log.LogAttrs(ctx, slog.LevelError, "a requested tool could not run", slog.String("request_id", d.EventID), slog.Any("error", err))
		return answer.failed(statusError, "The server failed. The log of the server contains the reason.")
	}
	return answer.failed(statusError, problem(err))
}

// problem returns the text of an error for the result.
func problem(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	if len(f.Details) > 0 && f.Code == fault.InvalidInput {
		return "The request is not valid: " + listed(f.Details)
	}
	return f.Message
}

// overhead is the maximum size in bytes of the parts of a message that are not its value: key, headers and envelope.
const overhead = 64 << 10

// publish returns the records of a result. If a result does not match its schema, it is replaced by an error; the
// stored run still contains the original result.
func (a *API) publish(d delivery, answer result) []*kgo.Record {
	answer = answer.identified(d.request)
	text := encode(answer)
	details := a.schemas.result.Validate(text)
	if int64(len(text)) > a.Kafka.MessageBytes-overhead {
		details = append(details, fault.Detail{Message: fmt.Sprintf("its size of %d bytes exceeds --kafka-message-bytes", len(text))})
	}
	if len(details) > 0 {
		answer.Metadata = map[string]any{"request_id": d.EventID, "run_id": answer.Metadata["run_id"], "sandbox_logs": []string{}}
		answer.TraceContext = nil
		answer = answer.failed(statusError, "The result cannot be published: "+listed(details)).identified(d.request)
		text = encode(answer)
	}
	key := d.SessionID
	all := []*kgo.Record{seal(a.Kafka.Results, key, text, d.form, answer.EventID, d.ToolName, d.trace)}
	if a.Kafka.Events != "" {
		event := sideEvent(eventResult, d.request, answer.Status, d.ToolName+": "+answer.Status, answer.ExecutionTime)
		all = append(all, seal(a.Kafka.Events, key, event, bare, "", "", d.trace))
	}
	return all
}

// tellStart publishes an event that a tool starts. If publishing fails, the error is only logged, because the event is
// only informative.
func (a *API) tellStart(d delivery) {
	if a.Kafka.Events == "" {
		return
	}
	event := sideEvent(eventStart, d.request, "running", d.ToolName+" started", 0)
	a.side.TryProduce(context.Background(), seal(a.Kafka.Events, d.SessionID, event, bare, "", "", d.trace), func(_ *kgo.Record, err error) {
		if err != nil {
			a.Log.LogAttrs(context.Background(), slog.LevelDebug, "a start could not be published", slog.Any("error", err))
		}
	})
}

// deadLetter returns a record for the dead letter topic. The record is a copy of an invalid request, with the reason
// and the position of the request.
func (a *API) deadLetter(d delivery) *kgo.Record {
	record := &kgo.Record{Topic: a.Kafka.Requests + ".dlq", Key: d.record.Key, Value: d.record.Value, Headers: slices.Clone(d.record.Headers)}
	if int64(len(record.Value)) > a.Kafka.MessageBytes-overhead { // The value is too large to copy; the headers contain the position of the request.
		record.Value = nil
	}
	for _, h := range [][2]string{
		{"dlq-topic", d.record.Topic}, {"dlq-partition", strconv.Itoa(int(d.record.Partition))}, {"dlq-offset", strconv.FormatInt(d.record.Offset, 10)},
		{"dlq-error", problem(d.err)}, {"dlq-attempt", "1"},
	} {
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: h[0], Value: []byte(h[1])})
	}
	return record
}
