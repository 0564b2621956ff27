package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// ToolFunction is the host function with which a program calls another agent.
const ToolFunction = "callTool"

const (
	// MaxToolDepth is the maximum number of nested runs that wait for each other, not counting the first one. The runtimes
	// reserve a worker for each level.
	MaxToolDepth = 3
	// MaxToolCalls is the maximum number of runs that one run may start in total, including the runs that these runs
	// start.
	MaxToolCalls = 100
	// maxToolResult is the maximum size in bytes of a called run's output. It is limited because the calling program reads
	// the output in one message.
	maxToolResult = 4 << 20
)

// toolsRule is the name of the rule in errors of tool calls.
const toolsRule = "tools"

// family holds the counters that a run shares with all runs that it calls, directly or indirectly.
type family struct {
	calls  atomic.Int64 // number of runs that were called
	tokens atomic.Int64 // number of language model tokens that were used
}

// outer describes the running program that calls an agent.
type outer struct {
	execution *execution
	started   func(registry.Run) // called with the new run before the run starts
}

// callTool runs a version of another agent for a program, and returns its output. The called run has its own sandbox.
// It uses the slot of the calling run, because the calling run waits. It ends when the calling run ends.
func (h host) callTool(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	var asked struct {
		Reference string          `json:"reference"`
		Input     json.RawMessage `json:"input"`
	}
	if err := decode(args, &asked); err != nil {
		return nil, invalid("callTool(reference, input)", err)
	}
	return h.tool(ctx, asked.Reference, asked.Input)
}

func (h host) tool(ctx context.Context, wanted string, input json.RawMessage) (json.RawMessage, error) {
	l := h.execution
	declared, ok := specs.ToolOf(l.job.Capabilities.Tools, wanted)
	if !ok {
		refused := undeclared(wanted, l.job.Capabilities.Tools)
		l.noteDenied(refused)
		return nil, refused
	}
	call := runtimes.CallData{Reference: declared}
	began := l.service.Now()
	run, err := h.perform(ctx, declared, input, &call)
	call.Ms = ms(l.service.Now().Sub(began))
	if call.RunID == "" {
		call.Status = "refused"
	}
	var refused *runtimes.CallError
	if errors.As(err, &refused) && refused.Code == runtimes.WaitsCode {
		return nil, err // The method await emits the event of this call.
	}
	if refused != nil {
		l.noteDenied(refused)
		call.Error = refused.Message
	} else if err != nil {
		call.Error = "An internal error of the server occurred."
	}
	l.emit(runtimes.KindCall, call)
	if err != nil {
		return nil, err
	}
	return run.Output, nil
}

// perform executes the called version and fills in the data of the call event.
func (h host) perform(ctx context.Context, declared string, input json.RawMessage, call *runtimes.CallData) (registry.Run, error) {
	l := h.execution
	if l.depth >= MaxToolDepth {
		return registry.Run{}, tooMany(fmt.Sprintf("A chain of agents that call each other may have at most %d agents.", MaxToolDepth), "Call the agent from an outer one, or merge two agents.")
	}
	if l.family.calls.Add(1) > MaxToolCalls {
		return registry.Run{}, tooMany(fmt.Sprintf("One run may call at most %d agents, including the agents that they call.", MaxToolCalls), "Process more in one call, or split the work into several runs.")
	}
	version, err := l.pinned(ctx, declared)
	if err != nil {
		return registry.Run{}, callError(declared, "", err)
	}
	call.Version = version.Version
	left, err := l.remaining()
	if err != nil {
		return registry.Run{}, err
	}
	result, err := l.service.Execute(ctx, l.run.Actor, Request{
		Agent: version.AgentID, Version: version.Version, Of: &version, Input: input, Trigger: registry.TriggerTool, ParentRunID: l.job.RunID,
		AtMost: runtimes.Limits{TimeoutMs: left.Milliseconds()},
		outer: &outer{execution: l, started: func(run registry.Run) {
			call.RunID, call.Status = run.ID, string(registry.Running)
			l.emit(runtimes.KindCall, *call)
		}},
	})
	if err != nil {
		return registry.Run{}, callError(declared, call.RunID, err)
	}
	call.Status = string(result.Status)
	if result.Status == registry.AwaitingApproval && l.waits() {
		return registry.Run{}, &runtimes.CallError{Code: runtimes.WaitsCode, Message: result.ID}
	}
	return result.Run, unusable(result.Run)
}

// unusable returns the reason why a program does not get the output of a run that it has called. If the program gets
// the output, unusable returns nil.
func unusable(run registry.Run) error {
	reference := registry.Reference{Agent: run.Agent, Version: run.Version}.String()
	switch {
	case run.Status != registry.Succeeded:
		return failed(reference, run)
	case len(run.Output) > maxToolResult:
		return &runtimes.CallError{
			Code: "tool_failed", Rule: toolsRule, Remedy: "Return less, for example a part or a summary.",
			Message: fmt.Sprintf("%s returned %s; a program can receive at most %s.", reference, bytesize.Text(int64(len(run.Output))), bytesize.Text(maxToolResult)),
			Tool:    &runtimes.ToolFailure{Reference: reference, Type: string(runtimes.OutputLimit), Message: "The output is too large for the calling program.", RunID: run.ID},
		}
	}
	return nil
}

// remaining returns the time limit of a called run, which is the rest of the calling program's time. If a restarted
// server continues the calling program, the time of this program starts again.
func (l *execution) remaining() (time.Duration, error) {
	left := l.job.Limits.Timeout() - l.service.Now().Sub(l.began)
	least := runtimes.LeastLimits()
	if left < least.Timeout() {
		return 0, &runtimes.CallError{Code: "tool_failed", Message: "The time limit of this run leaves no time to call an agent.", Rule: toolsRule, Remedy: "Raise limits.timeoutMs."}
	}
	return left, nil
}

// pinned returns the version that a declared reference selects. For a published version, this was decided when it was
// published. Otherwise the reference is resolved now.
func (l *execution) pinned(ctx context.Context, declared string) (registry.Version, error) {
	ref, err := registry.ParseReference(declared)
	if err != nil {
		return registry.Version{}, err
	}
	at := slices.IndexFunc(l.job.Capabilities.Pinned, func(p runtimes.ToolPin) bool { return p.Reference == declared })
	if at >= 0 {
		ref.Version = l.job.Capabilities.Pinned[at].Digest
	}
	return l.service.Resolver.Resolve(ctx, l.job.Workspace, ref)
}

// noteDenied stores the last denied call, because the program's own report about the call is not trusted.
func (l *execution) noteDenied(refused *runtimes.CallError) {
	if refused.Code == string(runtimes.Denied) {
		l.denied.Store(refused)
	}
}

// settleTools replaces the details of a denied call in a program's error by the details that the server stored.
func (l *execution) settleTools(e *runtimes.ProgramError) {
	if e == nil || e.Type != runtimes.Denied || e.Rule != toolsRule && e.Rule != filesRule && e.Rule != modelRule {
		return
	}
	e.Rule, e.Remedy, e.Grant = "", "", nil
	if denied := l.denied.Load(); denied != nil {
		e.Message, e.Rule, e.Remedy, e.Grant = denied.Message, denied.Rule, denied.Remedy, denied.Grant
	}
}

func undeclared(wanted string, tools []string) *runtimes.CallError {
	grant := wanted
	if !strings.Contains(grant, "@") {
		grant += "@" + registry.Latest
	}
	message := fmt.Sprintf("The agent %q is not granted to this program.", wanted)
	if len(tools) > 0 {
		message += " It may call " + strings.Join(tools, ", ") + "."
	}
	return &runtimes.CallError{
		Code: string(runtimes.Denied), Message: message, Rule: toolsRule, Remedy: fmt.Sprintf("Add %q to capabilities.tools.", grant), Grant: &runtimes.Grant{Tools: []string{grant}},
	}
}

func tooMany(message, remedy string) error {
	return &runtimes.CallError{Code: string(runtimes.Denied), Message: message, Rule: toolsRule, Remedy: remedy}
}

// failed returns the error of a call whose run did not succeed.
func failed(reference string, run registry.Run) error {
	failure := &runtimes.ToolFailure{Reference: reference, Type: string(run.Status), RunID: run.ID}
	remedy := ""
	if run.Error != nil {
		failure.Type, failure.Message, remedy = string(run.Error.Type), run.Error.Message, run.Error.Remedy
	}
	return &runtimes.CallError{
		Code: "tool_failed", Rule: toolsRule, Remedy: remedy, Tool: failure,
		Message: strings.TrimSuffix(fmt.Sprintf("%s failed with %s: %s", reference, failure.Type, failure.Message), ": "),
	}
}

// callError converts an error of the server to an error for the calling program. Internal errors are returned
// unchanged; the program does not see them.
func callError(reference, runID string, err error) error {
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Code == fault.Internal {
		return err
	}
	message := refused.Message
	for _, d := range refused.Details {
		message += " " + strings.TrimSpace(d.Pointer+" "+d.Message)
	}
	code := "tool_failed"
	if refused.Code == fault.InvalidInput {
		code = "invalid_arguments"
	}
	return &runtimes.CallError{
		Code: code, Rule: toolsRule, Message: reference + ": " + message,
		Tool: &runtimes.ToolFailure{Reference: reference, Type: string(refused.Code), Message: refused.Message, RunID: runID},
	}
}
