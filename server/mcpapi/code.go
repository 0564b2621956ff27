package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/specs"
)

// codeName is the name of the tool that runs a program which the caller sends.
const codeName = "execute_code"

// codeTool describes execute_code.
func codeTool() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: codeName, Title: "Execute code",
		Description: "Runs a program in a sandbox without network and returns its output, stdout and error. " +
			"JavaScript and TypeScript export a default function (input, ctx); Python defines main(input); " +
			"Bash reads JSON from $INPUT and writes JSON to the file $OUTPUT.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
		InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["language","code"],"properties":{
			"language":{"type":"string","enum":["javascript","typescript","python","bash"]},
			"code":{"type":"string","minLength":1,"maxLength":1000000},
			"input":{"description":"The input of the program, any JSON value. Default: {}."},
			"timeoutMs":{"type":"integer","minimum":1,"maximum":600000}}}`),
		OutputSchema: json.RawMessage(`{"type":"object","required":["output","stdout","stderr","error"],"properties":{
			"output":{"description":"What the program returned."},"stdout":{"type":"string"},"stderr":{"type":"string"},
			"error":{"description":"null, or an object with type, message, file, line and remedy."}}}`),
	}
}

// codeRequest holds the arguments of execute_code.
type codeRequest struct {
	Language  runtimes.Language `json:"language"`
	Code      string            `json:"code"`
	Input     json.RawMessage   `json:"input"`
	TimeoutMs *int64            `json:"timeoutMs"`
}

// codeResult is its structured content. A program that fails is a result with isError.
type codeResult struct {
	Output json.RawMessage        `json:"output"`
	Stdout string                 `json:"stdout"`
	Stderr string                 `json:"stderr"`
	Error  *runtimes.ProgramError `json:"error"`
}

func (a *API) executeCode(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	caller, ok := callerOf(req.Extra)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + codeName}
	}
	request, err := readCode(req.Params.Arguments)
	if err != nil {
		return a.refused(ctx, err)
	}
	entrypoint := specs.Entrypoint(request.Language)
	run, err := a.Runs.Execute(ctx, caller.Actor, runs.Request{
		Inline: &registry.Spec{
			Language: request.Language, Entrypoint: entrypoint, Files: map[string]registry.File{entrypoint: registry.File(request.Code)},
		},
		Input: request.Input, Limits: runtimes.Limits{TimeoutMs: request.timeout()}, Trigger: registry.TriggerMCP,
	})
	if err != nil {
		return a.refused(ctx, err)
	}
	result := codeResult{Output: run.Output, Stdout: run.Stdout, Stderr: run.Stderr, Error: run.Error}
	if len(result.Output) == 0 {
		result.Output = json.RawMessage("null")
	}
	return &mcp.CallToolResult{
		Meta: mcp.Meta{metaRun: run.ID}, IsError: run.Status != registry.Succeeded, StructuredContent: result, Content: text(encode(result)),
	}, nil
}

// timeout returns the time limit, 0 for the default.
func (r codeRequest) timeout() int64 {
	if r.TimeoutMs == nil {
		return 0
	}
	return *r.TimeoutMs
}

func readCode(arguments json.RawMessage) (codeRequest, error) {
	var request codeRequest
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return request, fault.Invalid("", "The arguments are language, code, input and timeoutMs: %s.", err)
	}
	switch request.Language {
	case runtimes.JavaScript, runtimes.TypeScript, runtimes.Python, runtimes.Bash:
	default:
		return request, fault.Invalid("/language", "must be javascript, typescript, python or bash.")
	}
	if request.Code == "" {
		return request, fault.Invalid("/code", "is required.")
	}
	if request.TimeoutMs != nil && *request.TimeoutMs < 1 {
		return request, fault.Invalid("/timeoutMs", "must be at least 1.")
	}
	return request, nil
}
