package mcpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/approvals"
)

// Approvals reads and decides requests for approval.
type Approvals interface {
	OfRun(ctx context.Context, actor registry.Actor, run string) (registry.Approval, error)
	Approvers(ctx context.Context, a registry.Approval) ([]string, error)
	MayApprove(ctx context.Context, actor registry.Actor, a registry.Approval) (bool, error)
	Decide(ctx context.Context, actor registry.Actor, id string, d approvals.Decision) (registry.Approval, error)
}

// approvalInput is the key of the input request that asks about an approval.
const approvalInput = "approval"

// shownInput is the maximum number of bytes of a run's input that the form shows.
const shownInput = 1000

// waiting answers a call whose run waits for an approval. If the client can show a form, the answer is an input
// request. The RequestState of the input request is the ID of the run. It needs no signature, because finish checks it
// against the record of the run.
func (a *API) waiting(ctx context.Context, req *mcp.CallToolRequest, caller registry.Caller, run registry.Run) (*mcp.CallToolResult, error) {
	approval, err := a.Approvals.OfRun(ctx, caller.Actor, run.ID)
	if err != nil {
		return a.refused(ctx, err)
	}
	if !showsForms(req.ClientCapabilities()) {
		return a.stillWaits(ctx, run, approval), nil
	}
	may, err := a.decides(ctx, caller, approval)
	if err != nil {
		return a.refused(ctx, err)
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{approvalInput: a.form(may, run, approval)}, RequestState: run.ID}, nil
}

func showsForms(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// decides reports whether the caller may decide a request for approval. The rules are those of POST
// /approvals/{approval}.
func (a *API) decides(ctx context.Context, caller registry.Caller, approval registry.Approval) (bool, error) {
	if !caller.May(registry.ApproveScope) || len(caller.Agents) > 0 {
		return false, nil
	}
	return a.Approvals.MayApprove(ctx, caller.Actor, approval)
}

// form returns the form for a run that waits for an approval. It asks an approver for the decision. It asks any other
// person to continue when an approver has decided.
func (a *API) form(decides bool, run registry.Run, approval registry.Approval) *mcp.ElicitParams {
	var b strings.Builder
	fmt.Fprintf(&b, "%s waits for an approval: %s\n\nInput: %s\n\n%s", subject(run), strings.Join(approval.Reasons, " "), shown(run), a.approvalURL(approval))
	if !decides {
		return &mcp.ElicitParams{
			Message:         b.String() + "\n\nContinue when an approver has decided.",
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}
	}
	return &mcp.ElicitParams{Message: b.String(), RequestedSchema: map[string]any{
		"type": "object", "required": []string{"decision"},
		"properties": map[string]any{
			"decision": map[string]any{"type": "string", "enum": []string{"approve", "deny"}, "title": "Decision", "description": "approve runs the tool once. deny cancels the run."},
			"comment":  map[string]any{"type": "string", "maxLength": 1000, "title": "Comment", "description": "Stored with the decision."},
		},
	}}
}

// subject returns a text that names the program of a run.
func subject(run registry.Run) string {
	if run.Agent == "" {
		return "Code that this client sent"
	}
	return registry.Reference{Agent: run.Agent, Version: run.Version}.String()
}

// shown returns the input of a run for the form. If it must cut the input, it cuts between two characters.
func shown(run registry.Run) string {
	text := string(run.Input)
	if run.Withheld {
		return "withheld, because the program has the flag pii_risk"
	}
	if len(text) <= shownInput {
		return text
	}
	end := shownInput
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s…\n%d more bytes are not shown. Read them at the address below before you decide.", text[:end], len(text)-end)
}

func (a *API) approvalURL(approval registry.Approval) string {
	return cmp.Or(a.PublicURL, a.BasePath) + "/studio/approvals/" + approval.ID
}

// finish continues a call after the client has answered the input request. The run must have been started by this
// caller with a tool of this agent, in any version. agentID is "" if the run executes a program that the caller sent.
func (a *API) finish(ctx context.Context, req *mcp.CallToolRequest, caller registry.Caller, agentID string, result func(registry.Run) *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	run, err := a.Runs.Get(ctx, caller.Actor, req.Params.RequestState)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return a.refused(ctx, err)
	}
	if err != nil || run.Actor.ID != caller.Actor.ID || run.AgentID != agentID || run.Trigger != registry.TriggerMCP {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState must belong to a waiting run of this tool; call the tool again without requestState"}
	}
	approval, err := a.Approvals.OfRun(ctx, caller.Actor, run.ID)
	if err != nil {
		return a.refused(ctx, err)
	}
	may, err := a.decides(ctx, caller, approval)
	if err != nil {
		return a.refused(ctx, err)
	}
	decision, decided := decisionOf(req)
	switch {
	case run.Status == registry.AwaitingApproval && may && decided:
		_, err := a.Approvals.Decide(ctx, caller.Actor, approval.ID, decision)
		if err != nil && !fault.Is(err, fault.Conflict) { // A conflict means that another person has decided first. Then that decision counts.
			return a.refused(ctx, err)
		}
	case run.Status == registry.AwaitingApproval: // Return at once, because the request for approval must stay if the client disconnects now.
		return a.stillWaits(ctx, run, approval), nil
	default: // An approver has decided.
	}
	if run, err = a.ended(ctx, req, caller, run.ID); err != nil {
		return a.refused(ctx, err)
	}
	if run.Status == registry.AwaitingApproval {
		return a.stillWaits(ctx, run, approval), nil
	}
	return result(run), nil
}

// decisionOf reads the answer to the form. If the answer contains no decision, decided is false.
func decisionOf(req *mcp.CallToolRequest) (d approvals.Decision, decided bool) {
	answer, _ := req.Params.InputResponses[approvalInput].(*mcp.ElicitResult)
	if answer == nil {
		return d, false
	}
	d.Comment, _ = answer.Content["comment"].(string)
	choice := answer.Content["decision"]
	d.Approve = answer.Action == "accept" && choice == "approve"
	return d, d.Approve || answer.Action == "decline" || answer.Action == "accept" && choice == "deny"
}

// ended waits until a run has ended. The run must not wait for an approval. If the client disconnects, the run is
// cancelled, as for every other call.
func (a *API) ended(ctx context.Context, req *mcp.CallToolRequest, caller registry.Caller, id string) (registry.Run, error) {
	follower, err := a.Runs.Follow(ctx, caller.Actor, id, 0)
	if err != nil {
		return registry.Run{}, err
	}
	report := a.reporter(ctx, req)
	for {
		var e runtimes.Event
		if e, err = follower.Next(ctx); err != nil {
			break
		}
		report(e)
	}
	if ctx.Err() != nil {
		_, err := a.Runs.Cancel(context.WithoutCancel(ctx), caller.Actor, id)
		return registry.Run{}, errors.Join(context.Cause(ctx), err)
	}
	if !errors.Is(err, io.EOF) {
		return registry.Run{}, err
	}
	return a.Runs.Get(ctx, caller.Actor, id)
}

// stillWaits returns the result of a call whose run has not started.
func (a *API) stillWaits(ctx context.Context, run registry.Run, approval registry.Approval) *mcp.CallToolResult {
	result := resultOf(run)
	approvers, _ := a.Approvals.Approvers(ctx, approval) // The request for approval is stored, so the answer must contain its ID.
	result.Content = text(encode(failure{
		Status: run.Status, Message: "The run waits for an approval. It starts when an approver approves it.", RunID: run.ID, ApprovalURL: a.approvalURL(approval),
		Approvers: approvers,
	}))
	return result
}
