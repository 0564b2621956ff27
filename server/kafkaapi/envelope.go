package kafkaapi

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
)

// envelope is the form in which a Kafka record contains an event.
type envelope int

const (
	bare       envelope = iota // the record contains only the event
	binary                     // a CloudEvent with its attributes in headers
	structured                 // a CloudEvent with everything in the value
)

const (
	contentType     = "content-type"
	structuredType  = "application/cloudevents+json; charset=UTF-8"
	eventSource     = "/atelier/kafka"
	typeResult      = "run.atelier.tool.result.v1"
	specVersion     = "1.0"
	headerTraceText = "traceparent"
)

// cloudEvent is a CloudEvent in structured form.
type cloudEvent struct {
	SpecVersion     string          `json:"specversion"`
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	Type            string          `json:"type"`
	Time            string          `json:"time,omitempty"`
	Subject         string          `json:"subject,omitempty"`
	DataContentType string          `json:"datacontenttype,omitempty"`
	TraceParent     string          `json:"traceparent,omitempty"`
	Data            json.RawMessage `json:"data"`
}

func header(record *kgo.Record, name string) string {
	for _, h := range record.Headers {
		if strings.EqualFold(h.Key, name) {
			return string(h.Value)
		}
	}
	return ""
}

// open returns the event in a record, the form of the event, and the traceparent of its trace.
func open(record *kgo.Record) (event []byte, form envelope, trace string) {
	trace = header(record, headerTraceText)
	switch {
	case strings.HasPrefix(strings.ToLower(header(record, contentType)), "application/cloudevents"):
		var outer cloudEvent
		if json.Unmarshal(record.Value, &outer) != nil {
			return record.Value, structured, trace
		}
		if outer.TraceParent != "" {
			trace = outer.TraceParent
		}
		return outer.Data, structured, trace
	case header(record, "ce_specversion") != "":
		if within := header(record, "ce_traceparent"); within != "" {
			trace = within
		}
		return record.Value, binary, trace
	}
	return record.Value, bare, trace
}

// seal returns the record of an event, in the same form as the request.
func seal(topic, key string, event json.RawMessage, form envelope, id, subject, trace string) *kgo.Record {
	record := &kgo.Record{Topic: topic, Key: []byte(key), Value: event}
	add := func(name, value string) {
		if value != "" {
			record.Headers = append(record.Headers, kgo.RecordHeader{Key: name, Value: []byte(value)})
		}
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	switch form {
	case binary:
		for _, attribute := range [][2]string{{"specversion", specVersion}, {"id", id}, {"source", eventSource}, {"type", typeResult}, {"time", now}, {"subject", subject}, {"traceparent", trace}} {
			add("ce_"+attribute[0], attribute[1])
		}
		add(contentType, "application/json")
	case structured:
		record.Value = encode(cloudEvent{
			SpecVersion: specVersion, ID: id, Source: eventSource, Type: typeResult, Time: now, Subject: subject, DataContentType: "application/json",
			TraceParent: trace, Data: event,
		})
		add(contentType, structuredType)
	case bare:
		add(contentType, "application/json")
	}
	add(headerTraceText, trace)
	return record
}

// sideEvent returns an event about a session: a tool started or ended. It is for readers that follow the session.
func sideEvent(kind string, r request, status, message string, seconds float64) json.RawMessage {
	metadata := map[string]any{"status": status, "source": "tool_executor", "tool_name": r.ToolName, "request_id": r.EventID}
	if kind == eventResult {
		metadata["execution_time"] = seconds
	}
	return encode(map[string]any{
		"event_id": uuid.NewSHA1(resultSpace, []byte(kind+"/"+r.tenant()+"/"+r.EventID)).String(), "session_id": r.SessionID, "persona_id": r.PersonaID, "role": "tool", "message": message,
		"metadata": metadata, "version": "sa01-v1", "type": kind,
	})
}

const (
	eventStart  = "tool.start"
	eventResult = "tool.result"
)
