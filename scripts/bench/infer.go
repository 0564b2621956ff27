package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/scripts/load"
)

// infer measures the time to infer the schemas of a changed program, and the time of a hundred tests of an agent.
func (b *bench) infer(ctx context.Context) (section, error) {
	programs := []struct {
		language, code string
		must           float64
	}{
		{"python", "from dataclasses import dataclass\n\n@dataclass\nclass Order:\n    id: int\n    city: str\n    note%d: str = ''\n\ndef main(order: Order, days: int = 3) -> dict[str, float]:\n    return {}\n", 60},
		{"typescript", "interface Order { id: number; city: string; note%d?: string }\nexport default function main(input: { order: Order; days?: number }): Record<string, number> { return {}; }\n", 400},
	}
	s := section{title: "Schemas and tests"}
	for _, p := range programs {
		ask := func(ctx context.Context, n int) error {
			body, err := json.Marshal(map[string]string{"language": p.language, "code": fmt.Sprintf(p.code, n)})
			if err != nil {
				return err
			}
			answer, err := b.server.Call(ctx, http.MethodPost, api+"/infer", body, nil)
			if err == nil && !strings.Contains(string(answer), fmt.Sprintf("note%d", n)) {
				err = fmt.Errorf("the schemas of %s are %s", p.language, answer)
			}
			return err
		}
		if err := ask(ctx, 1_000_000); err != nil {
			return s, err
		}
		c := b.observe(func() *load.Sample { return load.Closed(ctx, 1, b.span, ask) })
		s.rows = append(s.rows, bar{must: p.must, unit: "ms p50"}.judge(row{what: "schemas of a changed program, " + p.language, measured: c.String()}, c.At(0.5), c.cost()))
	}
	tests, err := b.hundredTests(ctx)
	s.rows = append(s.rows, tests)
	return s, err
}

func (b *bench) hundredTests(ctx context.Context) (row, error) {
	const name, count = "tested", 100
	var cases []map[string]any
	for n := range count {
		cases = append(cases, map[string]any{"name": fmt.Sprintf("case %d", n), "input": map[string]int{"n": n}, "expect": map[string]any{"output": n + 1}})
	}
	body, err := json.Marshal(map[string]any{"name": name, "language": "javascript", "code": "export default ({n}) => n + 1;\n", "tests": cases})
	if err != nil {
		return row{}, err
	}
	if _, err := b.server.Call(ctx, http.MethodPost, api+"/code-agents", body, nil); err != nil {
		return row{}, err
	}
	all := func(ctx context.Context, _ int) error {
		answer, err := b.server.Call(ctx, http.MethodPost, api+"/code-agents/"+name+"/tests/run", []byte("{}"), nil)
		if err != nil {
			return err
		}
		var got struct{ Passed int }
		if err := json.Unmarshal(answer, &got); err != nil || got.Passed != count {
			return fmt.Errorf("%d of %d tests passed: %.300s", got.Passed, count, answer)
		}
		return nil
	}
	if err := all(ctx, 0); err != nil {
		return row{}, err
	}
	c := b.observe(func() *load.Sample { return load.Closed(ctx, 1, b.span, all) })
	return bar{must: 1000, unit: "ms p50"}.judge(row{what: "100 tests of an agent in JavaScript", measured: c.String()}, c.At(0.5), c.cost()), ctx.Err()
}
