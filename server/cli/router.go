package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/studio/routing"
)

type routerCommand struct {
	Show    routerShow    `cmd:"" default:"withargs" help:"Show the routing table, which chooses the runtime of each run."`
	Explain routerExplain `cmd:"" help:"Show which runtime a call would use, and why. Nothing is executed."`
}

type routerShow struct{ asked }

func (c *routerShow) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/router", nil, func(answer json.RawMessage) error {
		var state routing.RouterState
		if err := read(answer, &state); err != nil {
			return err
		}
		t := newTable(p.Stdout, "RULE", "RUNTIMES", "OTHERWISE", "PURPOSE")
		for _, rule := range state.Rules {
			names := make([]string, len(rule.Runtimes))
			for i, name := range rule.Runtimes {
				names[i] = string(name)
			}
			t.row(rule.Name, strings.Join(names, ", "), string(rule.Otherwise), rule.Title)
		}
		if err := t.flush(); err != nil {
			return err
		}
		for _, one := range state.Runtimes {
			if !one.Ready {
				if err := p.say("%s is not available: %s", one.Runtime, one.Remedy); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// hinted contains the flags with facts about a run. The router uses these facts to choose a runtime.
type hinted struct {
	ExpectedMs int64  `name:"expected-ms" help:"Time that the run is expected to take, in milliseconds (default: the median of the version's runs)." placeholder:"MS"`
	LongJob    bool   `name:"long-job" help:"Mark the run as a long job, so that the router prefers a runtime for long jobs."`
	Isolation  string `enum:"strict,remote," default:"" help:"Isolation of the run: strict (a new process) or remote (another machine)." placeholder:"strict|remote"`
	GPU        bool   `name:"gpu" help:"Mark the program as one that needs a GPU."`
}

// hints returns the hints that the flags set, or nil if they set none.
func (h hinted) hints() *routing.Hints {
	hints := routing.Hints{ExpectedMs: h.ExpectedMs, LongJob: h.LongJob, Isolation: routing.Isolation(h.Isolation), GPU: h.GPU}
	if hints == (routing.Hints{}) {
		return nil
	}
	return &hints
}

type routerExplain struct {
	Reference string `arg:"" help:"Version (weather@1.0.0) or draft (weather@draft)." placeholder:"REF"`
	hinted
	asked
}

func (c *routerExplain) run(ctx context.Context, p Process) error {
	ref, err := referenceOf(c.Reference)
	if err != nil {
		return err
	}
	body := map[string]any{"agent": ref.Agent, "version": ref.Version, "hints": c.hints()}
	if c.hints() == nil {
		delete(body, "hints")
	}
	return c.ask(ctx, p, http.MethodPost, "/api/v1/router/explain", body, func(answer json.RawMessage) error {
		var e routing.RouteExplanation
		if err := read(answer, &e); err != nil {
			return err
		}
		return p.printRoute(e)
	})
}

func (p Process) printRoute(e routing.RouteExplanation) error {
	t := newTable(p.Stdout, "RULE", "APPLIES", "RUNTIMES", "WHY")
	for _, rule := range e.Considered {
		applies, names, why := "no", []string{}, []string{rule.Why}
		if rule.Applies {
			applies = "yes"
		}
		for _, one := range rule.Candidates {
			names = append(names, string(one.Runtime))
			if one.Why != "" {
				why = append(why, string(one.Runtime)+": "+one.Why)
			}
		}
		t.row(rule.Rule, applies, strings.Join(names, ", "), strings.Join(why, " "))
	}
	if err := t.flush(); err != nil {
		return err
	}
	if e.Refused == nil {
		return p.say("runs in %s by the rule %s: %s", e.Runtime, e.Rule, e.Reason)
	}
	text := e.Refused.Message
	for _, d := range e.Refused.Errors {
		text += " " + strings.TrimPrefix(strings.TrimPrefix(d.Pointer, "/"), "hints/") + " " + d.Message
	}
	return p.say("refused by the rule %s (%s): %s", e.Rule, e.Refused.Code, text)
}
