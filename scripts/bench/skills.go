package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// skills compares two ways to run the same Python program: as a skill through POST /skills/execute, and through the
// REST API. It alternates between both, so that other load affects them equally.
func (b *bench) skills(ctx context.Context) (section, error) {
	const clients, turns = 8, 3
	p := helloIn("python")
	if err := b.server.Ensure(ctx, p); err != nil {
		return section{}, err
	}
	if err := installSkill(ctx, b.server.Client); err != nil {
		return section{}, err
	}
	run, call := b.server.Checked(p), callSkill(b.server.Client, p)
	load.Closed(ctx, clients, time.Second, run)
	load.Closed(ctx, clients, time.Second, call)
	calls, runs, spread, middle := b.inTurns(ctx, clients, turns, b.span, call, run)
	r := row{what: "/skills/execute, 8 at once", measured: calls.String(), floor: fmt.Sprintf("%.2f × /execute (%s)", middle, spread)}
	return section{title: "A skill compared with a Python run", rows: []row{
		{what: "/code-agents/…/execute, 8 at once", measured: runs.String(), verdict: runs.cost()},
		bar{must: 1.10, aim: 1.0, unit: "×", of: "/execute"}.judge(r, middle, calls.cost()),
	}}, ctx.Err()
}

const skillName = "hello-skill"

func installSkill(ctx context.Context, c load.Client) error {
	body, err := json.Marshal(map[string]any{"files": map[string]string{
		"skill.yaml":  "name: " + skillName + "\nversion: 1.0.0\ndescription: Adds two numbers.\nhandler: handler.add\n",
		"schema.json": `{"input": {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}, "output": {"type": "object", "required": ["sum"], "properties": {"sum": {"type": "integer"}}}}`,
		"handler.py":  "def add(a, b):\n    return {\"sum\": a + b}\n",
	}})
	if err == nil {
		_, err = c.Call(ctx, http.MethodPost, "/v1/skills/install", body, nil)
	}
	return err
}

// callSkill calls the skill with the same input as the nth run of the program.
func callSkill(c load.Client, p load.Program) load.Call {
	return func(ctx context.Context, n int) error {
		body := append(append([]byte(`{"skill":"`+skillName+`","args":`), p.Input(n)...), '}')
		answer, err := c.Post(ctx, "/skills/execute", body)
		if err != nil {
			return err
		}
		var got struct {
			Success bool
			Result  json.RawMessage
		}
		var result bytes.Buffer
		if err := json.Unmarshal(answer, &got); err != nil {
			return err
		}
		if err := json.Compact(&result, got.Result); err != nil || !got.Success || result.String() != p.Want(n) {
			return fmt.Errorf("%s answered %s for %s", skillName, answer, p.Input(n))
		}
		return nil
	}
}
