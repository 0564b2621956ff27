package kafkaapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/routing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := compileSchemas()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text, wrong string
		answerable  bool
	}{
		"valid":          {`{"event_id":"e","session_id":"s","tool_name":"t@^1","args":{},"metadata":{}}`, "", true},
		"no arguments":   {`{"event_id":"e","session_id":"s","tool_name":"t","metadata":{}}`, "args", true},
		"unknown field":  {`{"event_id":"e","session_id":"s","tool_name":"t","args":{},"metadata":{},"more":1}`, "more", true},
		"arguments list": {`{"event_id":"e","session_id":"s","tool_name":"t","args":[],"metadata":{}}`, "args", true},
		"no session":     {`{"event_id":"e","tool_name":"t","args":{},"metadata":{}}`, "session_id", false},
		"hints":          {`{"event_id":"e","session_id":"s","tool_name":"t","args":{},"metadata":{"hints":{"longJob":true,"expectedMs":20}}}`, "", true},
		"unknown hint":   {`{"event_id":"e","session_id":"s","tool_name":"t","args":{},"metadata":{"hints":{"speed":1}}}`, "metadata/hints must not contain \"speed\"", true},
		"hint of 0":      {`{"event_id":"e","session_id":"s","tool_name":"t","args":{},"metadata":{"hints":{"expectedMs":0}}}`, "metadata/hints/expectedMs must be between", true},
		"hints list":     {`{"event_id":"e","session_id":"s","tool_name":"t","args":{},"metadata":{"hints":[]}}`, "metadata/hints", true},
		"control in ID":  {`{"event_id":"a\u0007","session_id":"s","tool_name":"t","args":{},"metadata":{}}`, "event_id must not contain control characters", true},
		"no JSON":        {`{`, "not valid", false},
		"a number":       {`7`, "not valid", false},
	} {
		r, err := s.parse([]byte(tt.text))
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(problem(err), tt.wrong) || r.answerable() != tt.answerable {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	r, _ := s.parse([]byte(`{"event_id":"e","session_id":"s","tool_name":"t@^1","args":{},"metadata":{"tenant":"x"}}`))
	if agent, version := r.reference(); agent != "t" || version != "^1" || r.tenant() != "x" {
		t.Errorf("%s, %s, %s", agent, version, r.tenant())
	}
	r, _ = s.parse([]byte(`{"event_id":"e","session_id":"s","tool_name":"t","args":{},"metadata":{"hints":{"longJob":true,"expectedMs":20}}}`))
	if want := (routing.Hints{LongJob: true, ExpectedMs: 20}); r.hints() != want {
		t.Errorf("%+v", r.hints())
	}
	if (request{ToolName: "t"}).tenant() != registry.DefaultWorkspace {
		t.Error("a request without a tenant has another workspace")
	}
}

// Every result matches the schema of results, whatever the program's output is.
func TestResults(t *testing.T) {
	t.Parallel()
	s, err := compileSchemas()
	if err != nil {
		t.Fatal(err)
	}
	r := request{EventID: "e", SessionID: "s", ToolName: "t", Metadata: map[string]any{"k": 1.0}}
	ids := map[string]string{}
	for name, tt := range map[string]struct {
		run             registry.Run
		status, payload string
	}{
		"object":   {registry.Run{Status: registry.Succeeded, Output: json.RawMessage(`{"a":1}`), Stdout: "x\ny\n"}, statusSuccess, `{"a":1}`},
		"text":     {registry.Run{Status: registry.Succeeded, Output: json.RawMessage(`"a"`)}, statusSuccess, `{"result":"a"}`},
		"nothing":  {registry.Run{Status: registry.Succeeded}, statusSuccess, `{"result":null}`},
		"failed":   {registry.Run{Status: registry.Failed, Error: &runtimes.ProgramError{Message: "no"}}, statusError, `{"message":"no"}`},
		"late":     {registry.Run{Status: registry.TimedOut, Error: &runtimes.ProgramError{Message: "late"}}, statusTimeout, `{"message":"late"}`},
		"blocked":  {registry.Run{Status: registry.Blocked}, statusBlocked, `{"message":"blocked"}`},
		"waiting":  {registry.Run{Status: registry.AwaitingApproval}, statusBlocked, `{"message":"approval required"}`},
		"stranded": {registry.Run{Status: registry.StatusInterrupted}, statusError, `{"message":"interrupted"}`},
	} {
		got := r.answer().of(tt.run).identified(r)
		if got.Status != tt.status || string(got.Payload) != tt.payload {
			t.Errorf("%s: %+v", name, got)
		}
		if again := r.answer().of(tt.run).identified(r); got.EventID != again.EventID || got.EventID == r.EventID || ids[got.EventID] != "" {
			t.Errorf("%s has the ID %s, then %s, and %q has it too", name, got.EventID, again.EventID, ids[got.EventID])
		}
		ids[got.EventID] = name
		if details := s.result.Validate(encode(got)); len(details) > 0 {
			t.Errorf("%s: %v", name, details)
		}
	}
	if r.Metadata["request_id"] != nil {
		t.Error("the metadata of the request have changed")
	}
}

// An answer must have the same envelope and the same trace as its request.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, form := range []envelope{bare, binary, structured} {
		sealed := seal("topic", "key", json.RawMessage(`{"x":1}`), form, "id", "tool", trace)
		event, got, found := open(sealed)
		if string(event) != `{"x":1}` || got != form || found != trace {
			t.Errorf("%d: %s, %d, %s", form, event, got, found)
		}
	}
	broken := &kgo.Record{Value: []byte("{"), Headers: []kgo.RecordHeader{{Key: "Content-Type", Value: []byte("application/cloudevents+json")}}}
	if event, form, _ := open(broken); string(event) != "{" || form != structured {
		t.Errorf("%s, %d", event, form)
	}
}
