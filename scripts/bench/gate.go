package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/scripts/load"
)

// gate measures two times: the time that the policy gate adds to a run whose verdict is cached, and the time to analyse
// a program.
func (b *bench) gate(ctx context.Context) (section, error) {
	cost, err := b.gateOfRun(ctx)
	if err != nil {
		return section{}, err
	}
	rows := []row{cost}
	for _, language := range []string{"python", "javascript", "bash"} {
		rows = append(rows, b.analysis(ctx, language))
	}
	return section{title: "The gate", rows: rows}, ctx.Err()
}

// gateOfRun compares runs with the policy gate in the modes enforce and off. It alternates between both modes, so that
// other load affects them equally.
func (b *bench) gateOfRun(ctx context.Context) (r row, err error) {
	const turns = 15
	p := helloIn("javascript")
	if err := b.server.Ensure(ctx, p); err != nil {
		return r, err
	}
	ask := b.server.Checked(p)
	defer func() { err = errors.Join(err, setGate(context.WithoutCancel(ctx), b.server.Client, "advise")) }()
	var with cell
	var ratios []float64
	for turn := range turns {
		medians := map[string]float64{}
		modes := []string{"off", "enforce"}
		if turn%2 == 1 {
			slices.Reverse(modes)
		}
		for _, mode := range modes {
			if err := setGate(ctx, b.server.Client, mode); err != nil {
				return r, err
			}
			load.Closed(ctx, 1, b.span/20, ask) // the first run is not counted, because it computes the verdict
			c := b.observe(func() *load.Sample { return load.Closed(ctx, 1, b.span/2, ask) })
			if medians[mode] = c.At(0.5); mode == "enforce" {
				with = c
			}
		}
		ratios = append(ratios, medians["enforce"]/medians["off"])
	}
	slices.Sort(ratios)
	middle := ratios[turns/2]
	r = row{what: "a run with a cached verdict, 1 at once", measured: with.String(), floor: fmt.Sprintf("%.3f × without the gate (median of %d turns, %.3f to %.3f)", middle, turns, ratios[turns/4], ratios[3*turns/4])}
	return bar{must: 1.02, unit: "×", of: "without the gate"}.judge(r, middle, with.cost()), nil
}

// setGate changes the mode of the workspace's policy gate, for example to enforce or off.
func setGate(ctx context.Context, c load.Client, mode string) error {
	var settings map[string]any
	if err := c.Get(ctx, api+"/gate", &settings); err != nil {
		return err
	}
	settings["gate"] = mode
	body, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	_, err = c.Call(ctx, http.MethodPut, api+"/gate", body, nil)
	return err
}

// analysis measures the time of a verdict about a draft of 200 lines. Each draft has a different text, because the
// server caches results of the analysis by text. The time to save the draft is not counted.
func (b *bench) analysis(ctx context.Context, language string) row {
	program := map[string][3]string{
		"python":     {"def main(input, ctx):\n    x = %d\n", "    x = max(len(str(input)), x)\n", ""},
		"javascript": {"let x = %d\nexport default (input) => {\n", "  x = Math.max(String(input).length, x)\n", "}\n"},
		"bash":       {"x=%d\n", "x=$(( ${#INPUT} + x ))\n", ""},
	}[language]
	name, sample := "analysed-"+language, &load.Sample{}
	draft := func() ([]byte, error) {
		code := fmt.Sprintf(program[0], time.Now().UnixNano()) + strings.Repeat(program[1], 197) + program[2]
		return json.Marshal(map[string]string{"name": name, "language": language, "code": code})
	}
	body, err := draft()
	if err == nil {
		_, err = b.server.Call(ctx, http.MethodPost, api+"/code-agents", body, nil)
	}
	c := b.observe(func() *load.Sample {
		for n, began := 0, time.Now(); err == nil && time.Since(began) < b.span && ctx.Err() == nil; n++ {
			var took time.Duration
			if took, err = b.judged(ctx, name, draft); n > 3 { // the first verdicts start sandboxes
				sample.Times = append(sample.Times, took)
			}
		}
		slices.Sort(sample.Times)
		sample.Span, sample.Fault = max(b.span, 1), err
		return sample
	})
	if len(sample.Times) == 0 {
		return row{what: "verdict about 200 new lines of " + language, measured: "left out", verdict: fmt.Sprint(err)}
	}
	return bar{must: 30, unit: "ms p50"}.judge(row{what: "verdict about 200 new lines of " + language, measured: c.String()}, c.At(0.5), c.cost())
}

// judged saves a draft and returns how long the server takes for the verdict about the draft.
func (b *bench) judged(ctx context.Context, name string, draft func() ([]byte, error)) (time.Duration, error) {
	body, err := draft()
	if err != nil {
		return 0, err
	}
	if _, err := b.server.Call(ctx, http.MethodPut, api+"/code-agents/"+name, body, map[string]string{"If-Match": "*"}); err != nil {
		return 0, err
	}
	var got registry.Verdict
	asked := time.Now()
	err = b.server.Get(ctx, api+"/code-agents/"+name+"/verdict", &got)
	took := time.Since(asked)
	if err == nil && got.Decision != registry.Approve {
		err = fmt.Errorf("the verdict about %s is %+v", name, got)
	}
	return took, err
}
