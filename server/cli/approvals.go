package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/approvals"
	"github.com/atelier-run/atelier/studio/policy"
)

type approvalsCommand struct {
	List    approvalsList   `cmd:"" default:"withargs" help:"List requests, newest first."`
	Show    approvalsShow   `cmd:"" help:"Show a request with its reasons and findings."`
	Approve approvalApprove `cmd:"" help:"Approve a request. The approved run or publication starts at once."`
	Deny    approvalDeny    `cmd:"" help:"Deny a request."`

	Deliveries approvalDeliveries `cmd:"" help:"List webhooks about requests for approval and budgets, newest first."`
}

type approvalsList struct {
	Status string `help:"Only requests in this state." enum:"pending,approved,denied,expired,withdrawn,all" default:"pending"`
	Limit  int    `help:"Maximum number of requests." default:"50" placeholder:"N"`
	asked
}

func (c *approvalsList) run(ctx context.Context, p Process) error {
	query := url.Values{}
	if c.Status != "all" {
		query.Set("status", c.Status)
	}
	return list(ctx, p, c.asked, "/api/v1/approvals", query, c.Limit, func(items []registry.Approval) error {
		t := newTable(p.Stdout, "ID", "KIND", "STATUS", "WHAT", "BY", "EXPIRES", "WHY")
		for _, a := range items {
			what := a.Agent + "@" + a.Version
			if a.Agent == "" {
				what = "inline code"
			}
			t.row(a.ID, string(a.Kind), string(a.Status), what, a.Requester.Name, a.ExpiresAt.UTC().Format(time.RFC3339), strings.Join(a.Reasons, " "))
		}
		return t.flush()
	})
}

func approvalPath(id string) string { return "/api/v1/approvals/" + url.PathEscape(id) }

type approvalsShow struct {
	ID   string `arg:"" help:"ID of the request."`
	Diff bool   `help:"Also print the changed lines."`
	asked
}

func (c *approvalsShow) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var answer json.RawMessage
		if err := server.call(ctx, http.MethodGet, approvalPath(c.ID), nil, &answer); err != nil {
			return err
		}
		if err := c.print(p, answer, printApproval(p)); err != nil || !c.Diff {
			return err
		}
		var diff agents.Diff
		if err := server.call(ctx, http.MethodGet, approvalPath(c.ID)+"/diff", nil, &diff); err != nil {
			return err
		}
		for _, f := range diff.Files {
			if err := p.print(lines(or(f.Unified, f.Status+" "+f.Path))); err != nil {
				return err
			}
		}
		return nil
	})
}

// printComparison adds rows to the table: the changes of a program that waits for approval, and the findings about the
// program.
func printComparison(t table, d approvals.Details) {
	if d.Comparison != nil {
		t.row("compared with", or(d.Comparison.With, "nothing, because no version is approved"))
		for _, f := range d.Comparison.Files {
			t.row("file", f.Path+" is "+f.Status)
		}
		for _, p := range d.Comparison.Packages {
			t.row("package", p.Name+" "+or(p.Before, "(none)")+" → "+or(p.After, "(none)"))
		}
		for _, c := range d.Comparison.CapabilityChanges {
			t.row("capability", c.Message)
		}
	}
	if d.Verdict != nil {
		t.row("verdict", string(d.Verdict.Decision))
		for _, f := range d.Verdict.Findings {
			t.row("finding", place(fault.Detail{File: f.File, Line: f.Line, Column: f.Column})+string(f.Severity)+": "+f.Message)
		}
	}
}

func printApproval(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var a approvals.Details
		if err := read(answer, &a); err != nil {
			return err
		}
		t := newTable(p.Stdout, "FIELD", "VALUE")
		t.row("id", a.ID)
		t.row("kind", string(a.Kind))
		t.row("status", string(a.Status))
		t.row("agent", a.Agent+"@"+a.Version)
		t.row("requested by", a.Requester.Name)
		for _, reason := range a.Reasons {
			t.row("reason", reason)
		}
		if len(a.Input) > 0 {
			t.row("input", string(a.Input))
		}
		if a.Decider != nil {
			t.row("decided by", a.Decider.Name)
		}
		if a.Comment != "" {
			t.row("comment", a.Comment)
		}
		if a.Outcome != "" {
			t.row("outcome", a.Outcome)
		}
		printComparison(t, a)
		return t.flush()
	}
}

type approvalApprove struct {
	ID      string `arg:"" help:"ID of the request."`
	Scope   string `help:"Runs that the approval allows: once (this run), version (all runs of the version) or caller (all runs of the version by this caller)." enum:"once,version,caller" default:"once"`
	Comment string `help:"Reason for the decision." placeholder:"TEXT"`
	asked
}

func (c *approvalApprove) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, approvalPath(c.ID), map[string]any{"decision": "approve", "scope": c.Scope, "comment": c.Comment}, printApproval(p))
}

type approvalDeny struct {
	ID      string `arg:"" help:"ID of the request."`
	Comment string `help:"Reason for the decision." placeholder:"TEXT"`
	asked
}

func (c *approvalDeny) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, approvalPath(c.ID), map[string]any{"decision": "deny", "comment": c.Comment}, printApproval(p))
}

type approvalDeliveries struct {
	ID    string `arg:"" optional:"" help:"ID of a request (default: all requests)."`
	State string `help:"Only webhooks in this state." enum:"pending,delivered,failed,all" default:"all"`
	Limit int    `help:"Maximum number of webhooks." default:"50" placeholder:"N"`
	asked
}

func (c *approvalDeliveries) run(ctx context.Context, p Process) error {
	query := url.Values{}
	if c.ID != "" {
		query.Set("approval", c.ID)
	}
	if c.State != "all" {
		query.Set("state", c.State)
	}
	return list(ctx, p, c.asked, "/api/v1/approval-deliveries", query, c.Limit, func(items []registry.Delivery) error {
		t := newTable(p.Stdout, "APPROVAL", "EVENT", "STATE", "ATTEMPTS", "NEXT", "LAST ERROR")
		for _, d := range items {
			next := ""
			if d.NextAt != nil {
				next = d.NextAt.UTC().Format(time.RFC3339)
			}
			t.row(d.ApprovalID, d.Event, string(d.State), strconv.Itoa(d.Attempts), next, d.LastError)
		}
		return t.flush()
	})
}

// pollEvery is the interval at which a waiting command asks the server for the decision.
const pollEvery = time.Second

// awaitApproval waits until a person has decided whether a run may start.
func awaitApproval(ctx context.Context, server *client, run string) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		var state struct{ Status registry.Status }
		if err := server.call(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(run), nil, &state); err != nil {
			return err
		}
		if state.Status != registry.AwaitingApproval {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// approvers returns a text about the people who may decide a request.
func approvers(names []string) string {
	if len(names) == 0 {
		return "an approver, but no member of the workspace may approve it"
	}
	return "an approver (" + strings.Join(names, ", ") + ")"
}

// approvalLink returns the address of the page in the Studio on which a person can decide a request.
func approvalLink(server *client, id string) string {
	return server.base + "/studio/approvals/" + url.PathEscape(id)
}

type gateCommand struct {
	Show   gateShow   `cmd:"" default:"withargs" help:"Show the settings of the gate."`
	Set    gateSet    `cmd:"" help:"Change settings of the gate. Settings that are not given do not change."`
	Packs  gatePacks  `cmd:"" help:"List rule packs."`
	Put    gatePut    `cmd:"" help:"Create or replace a rule pack from a YAML file."`
	Delete gateDelete `cmd:"" help:"Delete a rule pack."`
	Check  gateCheck  `cmd:"" help:"Show the gate's verdict on an agent's draft."`
}

const gatePath = "/api/v1/gate"

type gateShow struct{ asked }

func (c *gateShow) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, gatePath, nil, printGate(p))
}

func printGate(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var g registry.GateSettings
		if err := read(answer, &g); err != nil {
			return err
		}
		t := newTable(p.Stdout, "SETTING", "VALUE")
		t.row("gate", string(g.Gate))
		t.row("packs", strings.Join(g.Packs, " "))
		t.row("disabled rules", strings.Join(g.DisabledRules, " "))
		t.row("block at", string(g.BlockAt))
		t.row("escalate at", string(g.EscalateAt))
		t.row("new capability", g.NewCapability)
		t.row("self-approval", strconv.FormatBool(g.SelfApproval))
		t.row("approval hours", strconv.Itoa(g.ApprovalHours))
		t.row("approve side effects", strconv.FormatBool(g.ApproveEffects))
		return t.flush()
	}
}

type gateSet struct {
	Gate          string    `help:"Mode of the gate: off, advise or enforce." placeholder:"MODE"`
	Packs         *[]string `help:"Rule packs to apply." placeholder:"NAME,…"`
	DisabledRules *[]string `help:"Rules to turn off." placeholder:"PACK/RULE,…"`
	BlockAt       string    `help:"Lowest severity of a finding that blocks." placeholder:"SEVERITY"`
	EscalateAt    string    `help:"Lowest severity of a finding that escalates to an approver." placeholder:"SEVERITY"`
	NewCapability string    `help:"Verdict on a version with a new capability: escalate or warn." placeholder:"VERDICT"`
	SelfApproval  *bool     `help:"Allow people to approve their own requests." negatable:""`
	ApprovalHours int       `help:"Hours after which a request expires." placeholder:"N"`
	SideEffects   *bool     `field:"approveEffects" help:"Require an approval for runs of versions with the flag side_effect." negatable:""`
	asked
}

func (c *gateSet) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var g registry.GateSettings
		if err := server.call(ctx, http.MethodGet, gatePath, nil, &g); err != nil {
			return err
		}
		c.change(&g)
		var answer json.RawMessage
		if err := server.call(ctx, http.MethodPut, gatePath, g, &answer); err != nil {
			return err
		}
		return c.print(p, answer, printGate(p))
	})
}

func (c *gateSet) change(g *registry.GateSettings) {
	if c.Gate != "" {
		g.Gate = registry.GateMode(c.Gate)
	}
	if c.Packs != nil {
		g.Packs = *c.Packs
	}
	if c.DisabledRules != nil {
		g.DisabledRules = *c.DisabledRules
	}
	if c.BlockAt != "" {
		g.BlockAt = registry.Severity(c.BlockAt)
	}
	if c.EscalateAt != "" {
		g.EscalateAt = registry.Severity(c.EscalateAt)
	}
	if c.NewCapability != "" {
		g.NewCapability = c.NewCapability
	}
	if c.SelfApproval != nil {
		g.SelfApproval = *c.SelfApproval
	}
	if c.ApprovalHours != 0 {
		g.ApprovalHours = c.ApprovalHours
	}
	if c.SideEffects != nil {
		g.ApproveEffects = *c.SideEffects
	}
}

type gatePacks struct{ asked }

func (c *gatePacks) run(ctx context.Context, p Process) error {
	return list(ctx, p, c.asked, "/api/v1/rule-packs", url.Values{}, 10_000, func(packs []policy.PackInfo) error {
		t := newTable(p.Stdout, "NAME", "RULES", "ACTIVE", "FROM", "TITLE")
		for _, one := range packs {
			from := "this workspace"
			if one.BuiltIn {
				from = "the server"
			}
			t.row(one.Name, strconv.Itoa(len(one.Rules)), strconv.FormatBool(one.Active), from, one.Title)
		}
		return t.flush()
	})
}

type gatePut struct {
	Name string `arg:"" help:"Name of the pack."`
	File string `arg:"" help:"YAML file, or - for stdin." type:"existingfile"`
	asked
}

func (c *gatePut) run(ctx context.Context, p Process) (err error) {
	file, err := p.open(c.File)
	if err != nil {
		return misusedf("read the rule pack: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	text, err := io.ReadAll(io.LimitReader(file, policy.MaxPack+1))
	if err != nil {
		return misusedf("read the rule pack: %w", err)
	}
	if len(text) > policy.MaxPack {
		return misusedf("the rule pack %s is larger than %s; split it into several packs", c.File, bytesize.Text(policy.MaxPack))
	}
	return c.ask(ctx, p, http.MethodPut, "/api/v1/rule-packs/"+url.PathEscape(c.Name), map[string]any{"source": string(text)}, func(json.RawMessage) error {
		return p.say("saved the rule pack %s; to apply it, add it with `atelier gate set --packs`", c.Name)
	})
}

type gateDelete struct {
	Name string `arg:"" help:"Name of the pack."`
	asked
}

func (c *gateDelete) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodDelete, "/api/v1/rule-packs/"+url.PathEscape(c.Name), nil, func(json.RawMessage) error {
		return p.say("deleted the rule pack %s", c.Name)
	})
}

type gateCheck struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	asked
}

func (c *gateCheck) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, agentPath(c.Agent)+"/verdict", nil, func(answer json.RawMessage) error {
		var v registry.Verdict
		if err := read(answer, &v); err != nil {
			return err
		}
		if err := p.print(string(v.Decision) + " score " + strconv.FormatFloat(v.Score, 'f', -1, 64)); err != nil {
			return err
		}
		for _, change := range v.CapabilityChanges {
			if err := p.print(change.Message); err != nil {
				return err
			}
		}
		for _, f := range v.Findings {
			if err := p.print(f.File + ":" + strconv.Itoa(f.Line) + ": " + string(f.Severity) + ": " + f.Message + " " + f.Remedy); err != nil {
				return err
			}
		}
		return nil
	})
}
