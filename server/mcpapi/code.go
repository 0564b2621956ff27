package mcpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/specs"
)

// codeName is the name of the tool that runs a program from the arguments of the call.
const codeName = "execute_code"

// codeTool returns the definition of the tool execute_code.
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
			"packages":{"type":"array","maxItems":64,"items":{"type":"string"},"description":"Packages with versions, such as requests==2.32.3 for Python or zod@^4 for JavaScript. Only if the server has a package index."},
			"timeoutMs":{"type":"integer","minimum":1,"maximum":600000}}}`),
		OutputSchema: codeOutput(),
	}
}

// codeOutput returns the output schema of execute_code.
func codeOutput() json.RawMessage {
	return json.RawMessage(`{"type":"object","required":["output","stdout","stderr","error"],"properties":{
		"output":{"description":"Value that the program returned."},"stdout":{"type":"string"},"stderr":{"type":"string"},
		"error":{"description":"null, or an object with type, message, file, line and remedy."}}}`)
}

// codeRequest holds the arguments of execute_code.
type codeRequest struct {
	Language  runtimes.Language `json:"language"`
	Code      string            `json:"code"`
	Input     json.RawMessage   `json:"input"`
	Packages  []string          `json:"packages"`
	TimeoutMs *int64            `json:"timeoutMs"`
}

// codeResult is the structured content of a result of execute_code. If the program failed, the tool result has isError.
type codeResult struct {
	Output json.RawMessage        `json:"output"`
	Stdout string                 `json:"stdout"`
	Stderr string                 `json:"stderr"`
	Error  *runtimes.ProgramError `json:"error"`
}

// executeCode runs the program in the arguments of a call in the sandbox.
func (a *API) executeCode(ctx context.Context, one *server, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	caller, ok := callerOf(req.Extra)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + codeName}
	}
	if req.Params.RequestState != "" {
		return a.finish(ctx, req, caller, "", codeResultOf)
	}
	request, err := readCode(req.Params.Arguments, runtimes.JavaScript, runtimes.TypeScript, runtimes.Python, runtimes.Bash)
	if err != nil {
		return a.refused(ctx, err)
	}
	entrypoint := specs.Entrypoint(request.Language)
	spec := registry.Spec{
		Language: request.Language, Entrypoint: entrypoint, Files: map[string]registry.File{entrypoint: registry.File(request.Code)}, Packages: request.Packages,
	}
	return a.runInline(ctx, one, req, caller, runs.Request{Inline: &spec, Input: request.Input, Limits: request.limits()})
}

// runInline runs a program that the caller sent. If a person must approve the run first, it answers in the same way as
// the tool of a version.
func (a *API) runInline(ctx context.Context, one *server, req *mcp.CallToolRequest, caller registry.Caller, request runs.Request) (*mcp.CallToolResult, error) {
	hints, err := hintsOf(req)
	if err != nil {
		return a.refused(ctx, err)
	}
	request.Hints, request.Trigger = hints, registry.TriggerMCP
	request.Watch = a.watched(ctx, one, req)
	run, err := a.Runs.Execute(ctx, caller.Actor, request)
	if err != nil {
		return a.refused(ctx, err)
	}
	if run.Status == registry.AwaitingApproval {
		return a.waiting(ctx, req, caller, run.Run)
	}
	return codeResultOf(run.Run), nil
}

// codeResultOf converts the finished run of a program that the caller sent to a tool result. If the program failed, the
// result has isError.
func codeResultOf(run registry.Run) *mcp.CallToolResult {
	result := codeResult{Output: run.Output, Stdout: run.Stdout, Stderr: run.Stderr, Error: run.Error}
	if len(result.Output) == 0 {
		result.Output = json.RawMessage("null")
	}
	return &mcp.CallToolResult{
		Meta: mcp.Meta{metaRun: run.ID}, IsError: run.Status != registry.Succeeded, StructuredContent: result, Content: text(encode(result)),
	}
}

// limits returns the limits that the arguments of the call set.
func (r codeRequest) limits() runtimes.Limits {
	if r.TimeoutMs == nil {
		return runtimes.Limits{}
	}
	return runtimes.Limits{TimeoutMs: *r.TimeoutMs}
}

// readArguments decodes the arguments of a built-in tool such as execute_code. It rejects unknown members.
func readArguments(arguments json.RawMessage, members string, into any) error {
	if len(arguments) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fault.Invalid("", "The arguments are %s: %s.", members, err)
	}
	return nil
}

func readCode(arguments json.RawMessage, languages ...runtimes.Language) (codeRequest, error) {
	var request codeRequest
	if err := readArguments(arguments, "language, code, input, packages and timeoutMs", &request); err != nil {
		return request, err
	}
	switch {
	case !slices.Contains(languages, request.Language):
		return request, fault.Invalid("/language", "must be one of %s.", join(languages))
	case request.Code == "":
		return request, fault.Invalid("/code", "is required.")
	case request.TimeoutMs != nil && *request.TimeoutMs < 1:
		return request, fault.Invalid("/timeoutMs", "must be at least 1.")
	}
	return request, nil
}

func join(languages []runtimes.Language) string {
	names := make([]string, len(languages))
	for i, language := range languages {
		names[i] = string(language)
	}
	return strings.Join(names, ", ")
}
