package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/runs"
)

// caller returns the handler of a tool. The tool runs one version.
func (a *API) caller(v registry.Version, one *server) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		caller, ok := callerOf(req.Extra)
		if !ok || !caller.MayTouch(v.AgentID) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + v.Agent}
		}
		if req.Params.RequestState != "" {
			return a.finish(ctx, req, caller, v.AgentID, resultOf)
		}
		hints, err := hintsOf(req)
		if err != nil {
			return a.refused(ctx, err)
		}
		request := runs.Request{Agent: v.AgentID, Version: v.Version, Input: req.Params.Arguments, Hints: hints, Trigger: registry.TriggerMCP, Watch: a.watched(ctx, one, req)}
		run, err := a.Runs.Execute(ctx, caller.Actor, request)
		if err != nil {
			return a.refused(ctx, err)
		}
		if run.Status == registry.AwaitingApproval {
			return a.waiting(ctx, req, caller, run.Run)
		}
		return resultOf(run.Run), nil
	}
}

// logLevel is the key in _meta with which a client requests log messages. The protocol revision without sessions uses
// this key.
const logLevel = "io.modelcontextprotocol/logLevel"

// watched returns a function that receives the events of a run. If the client requested neither progress nor log
// messages, it returns nil.
func (a *API) watched(ctx context.Context, one *server, req *mcp.CallToolRequest) func(runtimes.Event) {
	if _, logs := one.levels.Load(req.Session.ID()); logs || req.Params.GetProgressToken() != nil || req.Params.GetMeta()[logLevel] != nil {
		return a.reporter(ctx, req)
	}
	return nil
}

// reporter returns a function that sends the progress and the log messages of a running program to the client.
func (a *API) reporter(ctx context.Context, req *mcp.CallToolRequest) func(runtimes.Event) {
	token, last := req.Params.GetProgressToken(), 0.0
	return func(e runtimes.Event) {
		switch e.Kind {
		case runtimes.KindProgress:
			var data runtimes.ProgressData
			if token == nil || json.Unmarshal(e.Data, &data) != nil {
				return
			}
			if data.Done <= last && last > 0 { // The protocol requires that the values increase.
				return
			}
			last = data.Done
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // Ignore the error: the call itself detects that the client has disconnected.
				ProgressToken: token, Progress: data.Done, Total: data.Total, Message: data.Message,
			})
		case runtimes.KindLog:
			var data runtimes.LogData
			if json.Unmarshal(e.Data, &data) != nil {
				return
			}
			_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level(data.Level), Logger: req.Params.Name, Data: message(data)}) // Ignore the error: the call itself detects that the client has disconnected.
		default:
		}
	}
}

func level(name string) mcp.LoggingLevel {
	if name == "warn" {
		return "warning"
	}
	return mcp.LoggingLevel(name)
}

func message(data runtimes.LogData) any {
	if len(data.Fields) == 0 {
		return data.Message
	}
	return map[string]any{"message": data.Message, "fields": data.Fields}
}

// These are the names of the members in a result's _meta.
const (
	metaRun       = "run.atelier/runId"
	metaReference = "run.atelier/reference"
	metaDigest    = "run.atelier/digest"
)

// resultOf converts a finished run to a tool result. If the program failed, the result has isError and contains the
// reason and the remedy, so that a model can read them.
func resultOf(run registry.Run) *mcp.CallToolResult {
	result := &mcp.CallToolResult{Meta: mcp.Meta{metaRun: run.ID}}
	if run.Digest != "" {
		result.Meta[metaReference], result.Meta[metaDigest] = registry.Reference{Agent: run.Agent, Version: run.Version}.String(), run.Digest
	}
	if run.Status != registry.Succeeded {
		result.IsError = true
		result.Content = text(encode(failure{Status: run.Status, Error: run.Error, RunID: run.ID}))
		return result
	}
	if run.Withheld { // The stored run has no output, because the values of a private run are not stored.
		result.IsError = true
		result.Content = text(encode(failure{
			Status: run.Status, Message: "The run succeeded, but its output is no longer available, because the program has the flag pii_risk.", RunID: run.ID,
		}))
		return result
	}
	output := run.Output
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	result.Content = text(string(output))
	if output[0] == '{' { // Protocol revisions before 2026-07-28 allow only objects as structured content.
		result.StructuredContent = output
	}
	return result
}

// failure is the text in a tool result that has isError.
type failure struct {
	Status      registry.Status        `json:"status,omitempty"`
	Code        fault.Code             `json:"code,omitempty"`
	Message     string                 `json:"message,omitempty"`
	Errors      []fault.Detail         `json:"errors,omitempty"`
	Error       *runtimes.ProgramError `json:"error,omitempty"`
	RunID       string                 `json:"runId,omitempty"`
	ApprovalURL string                 `json:"approvalUrl,omitempty"`
	Approvers   []string               `json:"approvers,omitempty"` // sign-in names of people who may approve
	RetryAfter  float64                `json:"retryAfterSeconds,omitempty"`
}

// refused converts the error of a call to a tool result, so that a model can read the error. For an internal error of
// the server, it returns a protocol error instead.
func (a *API) refused(ctx context.Context, err error) (*mcp.CallToolResult, error) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code == fault.Internal {
		a.Log.LogAttrs(ctx, slog.LevelError, "MCP tool call failed", slog.Any("error", err))
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The server failed. The log of the server contains the reason."}
	}
	return &mcp.CallToolResult{
		IsError: true, Content: text(encode(failure{Code: f.Code, Message: f.Message, Errors: f.Details, RetryAfter: f.RetryAfter.Seconds()})),
	}, nil
}

func text(s string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: s}} }
