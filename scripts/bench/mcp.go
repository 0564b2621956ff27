package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// mcp compares calls over the Model Context Protocol with calls of the REST API. It also measures listing a large
// catalogue of tools.
func (b *bench) mcp(ctx context.Context) (section, error) {
	p := helloIn("javascript")
	if err := b.server.Ensure(ctx, p); err != nil {
		return section{}, err
	}
	call, err := b.mcpCall(ctx, p)
	if err != nil {
		return section{}, err
	}
	ten, err := b.tenCalls(ctx, p)
	if err != nil {
		return section{}, err
	}
	list, err := b.mcpList(ctx)
	return section{title: "Model Context Protocol", rows: []row{call, ten, list}}, err
}

// inTurns alternates between two kinds of requests, so that other load affects both equally. It returns their last
// samples and the median ratio. The ratio compares median times for one client, and rates for several clients.
func (b *bench) inTurns(ctx context.Context, clients, turns int, span time.Duration, one, other load.Call) (first, second cell, ratio string, middle float64) {
	var ratios []float64
	for range turns {
		first = b.observe(func() *load.Sample { return load.Closed(ctx, clients, span, one) })
		second = b.observe(func() *load.Sample { return load.Closed(ctx, clients, span, other) })
		if clients == 1 {
			ratios = append(ratios, first.At(0.5)/second.At(0.5))
		} else {
			ratios = append(ratios, second.PerSecond()/first.PerSecond())
		}
	}
	slices.Sort(ratios)
	return first, second, fmt.Sprintf("median of %d turns, %.2f to %.2f", turns, ratios[0], ratios[turns-1]), ratios[turns/2]
}

func (b *bench) mcpCall(ctx context.Context, p load.Program) (row, error) {
	over := func(ctx context.Context, n int) error {
		answer, err := rpc(ctx, b.server.Client, "tools/call", p.Name, map[string]any{"name": p.Name, "arguments": json.RawMessage(p.Input(n))})
		if err != nil {
			return err
		}
		var got struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
		var result bytes.Buffer
		if err := json.Unmarshal(answer, &got); err != nil {
			return err
		}
		if err := json.Compact(&result, got.StructuredContent); err != nil || got.IsError || result.String() != p.Want(n) {
			return fmt.Errorf("%s answered %s for %s", p.Name, answer, p.Input(n))
		}
		return nil
	}
	plain := b.server.Checked(p)
	if err := over(ctx, 1); err != nil {
		return row{}, err
	}
	load.Closed(ctx, 1, b.span/4, plain)
	c, _, spread, middle := b.inTurns(ctx, 1, 7, b.span/4, over, plain)
	r := row{what: "tools/call of a JavaScript hello, 1 at once", measured: c.String(), floor: fmt.Sprintf("%.2f × /execute (%s)", middle, spread)}
	return bar{must: 1.5, unit: "×", of: "/execute"}.judge(r, middle, c.cost()), ctx.Err()
}

// tenCalls compares a program that calls an agent ten times with ten separate calls of the agent.
func (b *bench) tenCalls(ctx context.Context, p load.Program) (row, error) {
	const name = "calls-ten"
	reference := p.Name + "@1.0.0"
	body, err := json.Marshal(map[string]any{
		"name": name, "language": "javascript", "capabilities": map[string]any{"tools": []string{reference}},
		"code": fmt.Sprintf("export default async (input, ctx) => {\n  const all = [];\n  for (const one of input.all) all.push(await ctx.callTool(%q, one));\n  return all;\n};\n", reference),
	})
	if err != nil {
		return row{}, err
	}
	if _, err := b.server.Call(ctx, http.MethodPost, api+"/code-agents", body, nil); err != nil {
		return row{}, err
	}
	if _, err := b.server.Call(ctx, http.MethodPost, api+"/code-agents/"+name+"/versions", []byte(`{"version":"1.0.0","changelog":"first"}`), nil); err != nil {
		return row{}, err
	}
	inside := func(ctx context.Context, n int) error {
		var inputs, want []string
		for k := range 10 {
			inputs, want = append(inputs, string(p.Input(10*n+k))), append(want, p.Want(10*n+k))
		}
		answer, err := b.server.Post(ctx, api+"/code-agents/"+name+"/execute", []byte(`{"version":"1.0.0","input":{"all":[`+strings.Join(inputs, ",")+`]}}`))
		if err != nil {
			return err
		}
		var got struct{ Output json.RawMessage }
		if err := json.Unmarshal(answer, &got); err != nil || string(got.Output) != "["+strings.Join(want, ",")+"]" {
			return fmt.Errorf("%s answered %s", name, answer)
		}
		return nil
	}
	one := b.server.Checked(p)
	plain := func(ctx context.Context, n int) error {
		for k := range 10 {
			if err := one(ctx, 10*n+k); err != nil {
				return err
			}
		}
		return nil
	}
	if err := inside(ctx, 0); err != nil {
		return row{}, err
	}
	c, _, spread, middle := b.inTurns(ctx, 1, 7, b.span/4, inside, plain)
	r := row{what: "a run that calls an agent ten times", measured: c.String(), floor: fmt.Sprintf("%.2f × ten calls of /execute (%s)", middle, spread)}
	return bar{must: 3, unit: "×", of: "ten calls"}.judge(r, middle, c.cost()), ctx.Err()
}

// catalogue is the number of tools in the list that is measured.
const catalogue = 1000

func (b *bench) mcpList(ctx context.Context) (row, error) {
	for n := range catalogue {
		p := load.Program{Name: fmt.Sprintf("tool-%d", n), Language: "javascript", Entrypoint: "main.js", Code: "export default () => 1;\n",
			Takes: map[string]any{"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string", "description": "A text."}}}, Gives: map[string]any{}}
		if err := b.server.Ensure(ctx, p); err != nil {
			return row{}, err
		}
	}
	whole := func(ctx context.Context, _ int) error {
		count, params := 0, map[string]any{}
		for {
			answer, err := rpc(ctx, b.server.Client, "tools/list", "", params)
			if err != nil {
				return err
			}
			var page struct {
				Tools      []json.RawMessage
				NextCursor string
			}
			if err := json.Unmarshal(answer, &page); err != nil {
				return err
			}
			if count += len(page.Tools); page.NextCursor == "" {
				break
			}
			params = map[string]any{"cursor": page.NextCursor}
		}
		if count < catalogue {
			return fmt.Errorf("tools/list has %d tools", count)
		}
		return nil
	}
	time.Sleep(time.Second) // the server may return a list that is a second old
	if err := whole(ctx, 0); err != nil {
		return row{}, err
	}
	c := b.observe(func() *load.Sample { return load.Closed(ctx, 1, b.span, whole) })
	return bar{must: 50, unit: "ms p99"}.judge(row{what: fmt.Sprintf("tools/list, all pages of %d tools", catalogue), measured: c.String()}, c.At(0.99), c.cost()), ctx.Err()
}

// rpc sends one request in the protocol revision that has no sessions, and returns its result.
func rpc(ctx context.Context, c load.Client, method, tool string, params map[string]any) (json.RawMessage, error) {
	const revision = "2026-07-28"
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": revision, "Mcp-Method": method}
	if tool != "" {
		headers["Mcp-Name"] = tool
	}
	answer, err := c.Call(ctx, http.MethodPost, "/mcp", body, headers)
	if err != nil {
		return nil, err
	}
	if _, data, ok := bytes.Cut(answer, []byte("data: ")); ok { // the answer may be an event stream with one event
		answer, _, _ = bytes.Cut(data, []byte("\n"))
	}
	var got struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(answer, &got); err != nil || got.Result == nil {
		return nil, fmt.Errorf("%s answered %s", method, answer)
	}
	return got.Result, nil
}
