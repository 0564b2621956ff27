package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/specs"
)

// maxMessage is the maximum length in bytes of a log or progress message.
const maxMessage = 16 << 10

// host handles the calls of a running program. It records events, and provides the host functions that the version was
// granted.
type host struct{ execution *execution }

// Emit records an event of the runtime. For an egress event it also counts the transferred bytes.
func (h host) Emit(e runtimes.Event) {
	if e.Kind == runtimes.KindEgress {
		var data runtimes.EgressData
		if json.Unmarshal(e.Data, &data) == nil && data.Bytes > 0 {
			h.execution.egress.Add(data.Bytes)
		}
	}
	h.execution.recording.Emit(e)
}

// Call executes a host call of the program. Every program may use log and progress, and may call the agents that its
// version declares.
func (h host) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	switch name {
	case "log":
		return h.log(args)
	case "progress":
		return h.progress(args)
	case specs.AskFunction:
		return h.askModel(ctx, args)
	case ToolFunction:
		return h.callTool(ctx, args)
	case runtimes.AwaitFunction:
		return h.await(ctx, args)
	}
	if projects.Known(name) {
		return h.file(ctx, name, args)
	}
	if declared, ok := specs.ToolOf(h.execution.job.Capabilities.Tools, name); ok { // Bash programs call an agent by its name, as in "atelier call NAME".
		return h.tool(ctx, declared, args)
	}
	return nil, unknownFunction(name)
}

func unknownFunction(name string) error {
	return &runtimes.CallError{
		Code: "denied", Message: fmt.Sprintf("Unknown host function %q.", name), Rule: "host functions",
		Remedy: "The host functions are askLLM, callTool, fetch, log and progress, and those of files: readFile, writeFile, deleteFile, listDir, fileExists, searchFiles, searchContent and submitResult.",
	}
}

func (h host) log(args json.RawMessage) (json.RawMessage, error) {
	var data runtimes.LogData
	if err := decode(args, &data); err != nil {
		return nil, invalid("log(level, message, fields)", err)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, data.Level) {
		return nil, &runtimes.CallError{Code: "invalid_arguments", Message: "log: level must be debug, info, warn or error."}
	}
	if len(data.Fields) > 0 && data.Fields[0] != '{' && string(data.Fields) != "null" {
		return nil, &runtimes.CallError{Code: "invalid_arguments", Message: "log: fields must be an object."}
	}
	if len(data.Message)+len(data.Fields) > maxMessage {
		return nil, &runtimes.CallError{Code: "invalid_arguments", Message: fmt.Sprintf("log: message and fields must have at most %s.", bytesize.Text(maxMessage))}
	}
	if string(data.Fields) == "null" {
		data.Fields = nil
	}
	h.execution.emit(runtimes.KindLog, data)
	return json.RawMessage("null"), nil
}

func (h host) progress(args json.RawMessage) (json.RawMessage, error) {
	var data runtimes.ProgressData
	if err := decode(args, &data); err != nil {
		return nil, invalid("progress(done, total, message)", err)
	}
	if data.Done < 0 || data.Total < 0 || len(data.Message) > maxMessage {
		return nil, &runtimes.CallError{Code: "invalid_arguments", Message: "progress: done and total must not be negative, and the message must be short."}
	}
	h.execution.emit(runtimes.KindProgress, data)
	return json.RawMessage("null"), nil
}

func decode(args json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func invalid(form string, err error) error {
	return &runtimes.CallError{Code: "invalid_arguments", Message: form + ": " + err.Error()}
}
