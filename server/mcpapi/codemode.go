package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/tools"
)

// codeMode reports whether the query of an MCP address selects code mode. In code mode a client sees only two tools,
// however many versions the catalogue contains. One tool searches the catalogue. The other tool runs a program that
// calls tools of the catalogue.
func codeMode(r *http.Request) (bool, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return false, fault.New(fault.BadRequest, "The query of the address is not valid.")
	}
	for name, values := range query {
		switch {
		case name == gate.WorkspaceParameter && r.Method == http.MethodGet: // Package server/gate has read this parameter.
		case name == "mode" && len(values) > 1:
			return false, fault.New(fault.BadRequest, "The query parameter mode must be given only once.")
		case name != "mode":
			return false, fault.New(fault.BadRequest, "The query parameter %q is unknown. MCP addresses support only mode=code.", name)
		}
	}
	switch mode := query.Get("mode"); {
	case mode == "code":
		return true, nil
	case query.Has("mode"):
		return false, fault.New(fault.BadRequest, "The mode %q is unknown. Send mode=code, or no mode for one tool per version.", mode)
	}
	return false, nil
}

const (
	searchName  = "search_tools"
	runCodeName = "run_code"

	defaultFound = 10
	maxFound     = 50
	// maxDeclarations is the maximum size in bytes of the declarations in one answer. The size is limited because a model
	// must read the declarations.
	maxDeclarations = 64 << 10
)

func searchTool() *mcp.Tool {
	no := false
	return &mcp.Tool{
		Name: searchName, Title: "Search tools",
		Description: "Finds tools by words, and returns typed function declarations, as " + runCodeName + " imports them from the module \"agents\".",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no},
		InputSchema: json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"properties":{
			"query":{"type":"string","maxLength":1000,"description":"Words that describe the task. Without words all tools are listed by name."},
			"language":{"type":"string","enum":["typescript","python"],"default":"typescript"},
			"limit":{"type":"integer","minimum":1,"maximum":%d,"default":%d}}}`, maxFound, defaultFound)),
	}
}

func runCodeTool() *mcp.Tool {
	return &mcp.Tool{
		Name: runCodeName, Title: "Run code",
		Description: "Runs a TypeScript or Python program in a sandbox without network. The program calls the tools that " + searchName + " found. " +
			"TypeScript: import { weather } from \"agents\"; export default async (input) => (await weather({ city: \"Oslo\" })).text. " +
			"Python: from agents import weather; def main(input): return weather(city=\"Oslo\")[\"text\"]. " +
			"Returns the output, stdout and error. Return only what you need.",
		InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["language","code"],"properties":{
			"language":{"type":"string","enum":["typescript","python"]},
			"code":{"type":"string","minLength":1,"maxLength":1000000},
			"input":{"description":"The input of the program, any JSON value. Default: {}."},
			"timeoutMs":{"type":"integer","minimum":1,"maximum":600000}}}`),
		OutputSchema: codeOutput(),
	}
}

// offerCodeMode adds the two tools of code mode to a server.
func (a *API) offerCodeMode(one *server) {
	one.sdk.AddTool(searchTool(), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return a.searchTools(ctx, one.address.Selection, req)
	})
	one.sdk.AddTool(runCodeTool(), func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return a.runCode(ctx, one, req)
	})
}

func (a *API) searchTools(ctx context.Context, selection tools.Selection, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	caller, ok := callerOf(req.Extra)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + searchName}
	}
	asked := struct {
		Query    string            `json:"query"`
		Language runtimes.Language `json:"language"`
		Limit    int               `json:"limit"`
	}{Language: runtimes.TypeScript, Limit: defaultFound}
	if err := readArguments(req.Params.Arguments, "query, language and limit", &asked); err != nil {
		return a.refused(ctx, err)
	}
	declare := manifest.TypeScript
	switch {
	case asked.Language == runtimes.Python:
		declare = manifest.Python
	case asked.Language != runtimes.TypeScript:
		return a.refused(ctx, fault.Invalid("/language", "must be typescript or python."))
	}
	if asked.Limit < 1 || asked.Limit > maxFound {
		return a.refused(ctx, fault.Invalid("/limit", "must be between 1 and %d.", maxFound))
	}
	if len(asked.Query) > 1000 {
		return a.refused(ctx, fault.Invalid("/query", "must have at most 1000 bytes."))
	}
	found, err := a.Tools.Search(ctx, caller, selection, asked.Query, asked.Limit)
	if err != nil {
		return a.refused(ctx, err)
	}
	shown := found.Tools
	declarations := declare(shown)
	for len(declarations) > maxDeclarations && len(shown) > 1 {
		shown = shown[:len(shown)/2]
		declarations = declare(shown)
	}
	if len(shown) == 0 {
		return &mcp.CallToolResult{Content: text("No tool matches. Try other words, or use no words to list all tools.")}, nil
	}
	if len(shown) < found.Total {
		mark := "//"
		if asked.Language == runtimes.Python {
			mark = "#"
		}
		declarations += fmt.Sprintf("%s %d of %d matching tools. Search with more words to find others.\n", mark, len(shown), found.Total)
	}
	return &mcp.CallToolResult{Content: text(declarations)}, nil
}

func (a *API) runCode(ctx context.Context, one *server, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	caller, ok := callerOf(req.Extra)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown tool " + runCodeName}
	}
	if req.Params.RequestState != "" {
		return a.finish(ctx, req, caller, "", codeResultOf)
	}
	request, err := readCode(req.Params.Arguments, runtimes.TypeScript, runtimes.Python)
	if err != nil {
		return a.refused(ctx, err)
	}
	if len(request.Packages) > 0 {
		return a.refused(ctx, fault.Invalid("/packages", "must be absent, because %s programs cannot use packages here. Publish an agent with the packages, and call it.", runCodeName))
	}
	spec, err := a.Tools.Program(ctx, caller, one.address.Selection, request.Language, request.Code)
	if err != nil {
		return a.refused(ctx, err)
	}
	return a.runInline(ctx, one, req, caller, runs.Request{Inline: &spec, Input: request.Input, Limits: request.limits()})
}
