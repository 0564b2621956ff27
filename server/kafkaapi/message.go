package kafkaapi

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/studio/routing"
)

// request is a message that requests one run of a tool.
type request struct {
	EventID      string            `json:"event_id"`
	SessionID    string            `json:"session_id"`
	PersonaID    *string           `json:"persona_id"`
	ToolName     string            `json:"tool_name"` // name of the tool, or name@version
	Args         json.RawMessage   `json:"args"`
	Metadata     map[string]any    `json:"metadata"`
	TraceContext map[string]string `json:"trace_context"`
}

// result is the message that answers a request.
type result struct {
	EventID       string            `json:"event_id"`
	SessionID     string            `json:"session_id"`
	PersonaID     *string           `json:"persona_id,omitempty"`
	ToolName      string            `json:"tool_name"`
	Status        string            `json:"status"` // one of success, error, timeout or blocked
	Payload       json.RawMessage   `json:"payload"`
	Metadata      map[string]any    `json:"metadata"`
	ExecutionTime float64           `json:"execution_time"` // execution time in seconds
	TraceContext  map[string]string `json:"trace_context,omitempty"`
}

// These are the values of result.Status.
const (
	statusSuccess = "success"
	statusError   = "error"
	statusTimeout = "timeout"
	statusBlocked = "blocked"
)

const requestSchema = `{
	"type": "object",
	"properties": {
		"event_id": {"type": "string", "minLength": 1, "maxLength": 150},
		"session_id": {"type": "string", "minLength": 1, "maxLength": 500},
		"persona_id": {"type": ["string", "null"]},
		"tool_name": {"type": "string", "minLength": 1, "maxLength": 300},
		"args": {"type": "object"},
		"metadata": {"type": "object"},
		"trace_context": {"type": "object", "additionalProperties": {"type": "string"}}
	},
	"required": ["event_id", "session_id", "tool_name", "args", "metadata"],
	"additionalProperties": false
}`

const resultSchema = `{
	"type": "object",
	"properties": {
		"event_id": {"type": "string", "minLength": 1},
		"session_id": {"type": "string", "minLength": 1},
		"persona_id": {"type": ["string", "null"]},
		"tool_name": {"type": "string", "minLength": 1},
		"status": {"enum": ["success", "error", "timeout", "blocked"]},
		"payload": {"type": "object"},
		"metadata": {"type": "object"},
		"execution_time": {"type": "number", "minimum": 0},
		"trace_context": {"type": "object", "additionalProperties": {"type": "string"}}
	},
	"required": ["event_id", "session_id", "tool_name", "status", "payload", "metadata", "execution_time"],
	"additionalProperties": false
}`

// schemas holds the compiled schemas of requests and results.
type schemas struct{ request, result *schema.Schema }

func compileSchemas() (schemas, error) {
	cache := schema.NewCache(2)
	in, inErr := cache.Get(json.RawMessage(requestSchema))
	out, outErr := cache.Get(json.RawMessage(resultSchema))
	return schemas{in, out}, errors.Join(inErr, outErr)
}

// parse decodes a request. If it returns an error, it has still set the fields that could be decoded, so that the
// client can get an error message.
func (s schemas) parse(text []byte) (request, error) {
	var r request
	if details := s.request.Validate(text); len(details) > 0 {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(text, &fields) // If the text is not JSON, no fields are set.
		for name, to := range map[string]*string{"event_id": &r.EventID, "session_id": &r.SessionID, "tool_name": &r.ToolName} {
			_ = json.Unmarshal(fields[name], to)
		}
		_ = json.Unmarshal(fields["metadata"], &r.Metadata)
		return r, invalid(details...)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	if strings.ContainsFunc(r.EventID, unicode.IsControl) {
		return r, invalid(fault.Detail{Pointer: "/event_id", Message: "must not contain control characters."})
	}
	if given, ok := r.Metadata["hints"]; ok {
		if _, err := routing.ParseHints(encode(given), "/metadata/hints"); err != nil {
			return r, err
		}
	}
	return r, nil
}

// invalid returns the error for a request with the given details.
func invalid(details ...fault.Detail) error {
	return &fault.Error{Code: fault.InvalidInput, Message: "The request is not valid: " + listed(details), Details: details}
}

// listed joins details into one sentence.
func listed(details []fault.Detail) string {
	var all []string
	for _, d := range details {
		all = append(all, strings.TrimSpace(strings.TrimPrefix(d.Pointer, "/")+" "+strings.TrimSuffix(d.Message, ".")))
	}
	return strings.Join(all, "; ") + "."
}

// answerable reports whether a request contains the fields that are needed to answer it.
func (r request) answerable() bool { return r.EventID != "" && r.SessionID != "" && r.ToolName != "" }

// reference returns the agent and the version that a request names. If the request names no version, it returns latest.
func (r request) reference() (agent, version string) {
	agent, version, _ = strings.Cut(r.ToolName, "@")
	if version == "" {
		version = "latest"
	}
	return agent, version
}

// hints returns metadata.hints, which are facts about the run that help to choose its runtime. parse has checked them.
func (r request) hints() routing.Hints {
	given, ok := r.Metadata["hints"]
	if !ok {
		return routing.Hints{}
	}
	hints, _ := routing.ParseHints(encode(given), "/metadata/hints")
	return hints
}

// tenant returns the tenant of a request.
func (r request) tenant() string {
	if tenant, _ := r.Metadata["tenant"].(string); tenant != "" {
		return tenant
	}
	return registry.DefaultWorkspace
}

// answer returns a result with the fields that are copied from the request.
func (r request) answer() result {
	metadata := map[string]any{}
	for name, value := range r.Metadata {
		metadata[name] = value
	}
	metadata["request_id"], metadata["sandbox_logs"] = r.EventID, []string{}
	return result{
		SessionID: r.SessionID, PersonaID: r.PersonaID, ToolName: r.ToolName,
		Metadata: metadata, TraceContext: r.TraceContext,
	}
}

// identified sets the ID of a result. The ID depends on the content of the result. If a redelivered request has the
// same result, the ID is the same, so that readers can remove duplicates. If a request gets another result, for example
// after an approval, the ID is different.
func (a result) identified(r request) result {
	a.EventID = uuid.NewSHA1(resultSpace, slices.Concat(encode([]string{r.tenant(), r.EventID, r.ToolName, a.Status}), r.Args, []byte("\n"), a.Payload)).String()
	return a
}

// resultSpace is the namespace of the UUIDs that identify results.
var resultSpace = uuid.MustParse("6f2b8a52-6f0e-4a53-9d0f-3a4f6f0c8a11")

// failed sets the status and the error message of a result.
func (a result) failed(status, message string) result {
	a.Status, a.Payload = status, encode(map[string]string{"message": message})
	return a
}

// maxLogLines is the maximum number of output lines in a result. The stored run may contain more lines.
const maxLogLines = 200

// of sets the fields of a result from a finished run.
func (a result) of(run registry.Run) result {
	a.ExecutionTime = run.Metrics.TotalMs / 1000
	a.Metadata["run_id"] = run.ID
	if run.Digest != "" {
		a.Metadata["reference"], a.Metadata["digest"] = registry.Reference{Agent: run.Agent, Version: run.Version}.String(), run.Digest
	}
	logs := []string{}
	for _, text := range []string{run.Stdout, run.Stderr} {
		if text = strings.TrimRight(text, "\n"); text != "" {
			lines := strings.Split(text, "\n")
			logs = append(logs, lines[max(0, len(lines)-maxLogLines):]...)
		}
	}
	a.Metadata["sandbox_logs"] = logs
	message := string(run.Status)
	if run.Error != nil {
		message = run.Error.Message
	}
	switch run.Status {
	case registry.Succeeded:
		a.Status, a.Payload = statusSuccess, payload(run.Output)
		return a
	case registry.TimedOut:
		return a.failed(statusTimeout, message)
	case registry.AwaitingApproval:
		return a.failed(statusBlocked, "approval required")
	case registry.Blocked:
		return a.failed(statusBlocked, message)
	default:
		return a.failed(statusError, message)
	}
}

// payload returns an output as a JSON object, because the schema of results requires an object.
func payload(output json.RawMessage) json.RawMessage {
	if len(output) > 0 && output[0] == '{' {
		return output
	}
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	return encode(map[string]json.RawMessage{"result": output})
}

// encode returns the JSON of a value. The types of all values can be encoded.
func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
