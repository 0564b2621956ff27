package servertest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/atelier-run/atelier/server/servertest"
)

// eras are the revisions of the protocol with and without sessions.
var eras = map[string][]string{"2026-07-28": nil, "2025-11-25": {"2025-11-25"}}

// asking publishes a version whose runs wait for an approval.
func asking(t *testing.T) *servertest.Server {
	t.Helper()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "asks", "language": "javascript", "code": "export default ({n}) => ({n: n + 1})", "requiresApproval": true})
	s.Publish(t, "asks", "1.0.0")
	return s
}

// runToken returns a token with the scope run only, so it cannot approve.
func runToken(t *testing.T, s *servertest.Server) string {
	t.Helper()
	var token struct{ Secret string }
	s.Want(t, 201, "POST", "/api/v1/tokens", map[string]any{"name": "runs", "scopes": []string{"run", "read"}}).Into(t, &token)
	return token.Secret
}

func statusOf(t *testing.T, s *servertest.Server, result *mcp.CallToolResult) string {
	t.Helper()
	id, _ := result.Meta["run.atelier/runId"].(string)
	var run struct{ Status string }
	s.Want(t, 200, "GET", "/api/v1/runs/"+id, nil).Into(t, &run)
	return run.Status
}

func TestMCP_Approval_PersonAtTheClientDecides(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		answer mcp.ElicitResult
		status string
		text   string
	}{
		"approved": {mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve", "comment": "fine"}}, "succeeded", `{"n":2}`},
		"denied":   {mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "deny"}}, "blocked", "denied"},
		"declined": {mcp.ElicitResult{Action: "decline"}, "blocked", "denied"},
		"closed":   {mcp.ElicitResult{Action: "cancel"}, "awaiting_approval", "/studio/approvals/"},
	}
	s := asking(t)
	for era, revision := range eras {
		for name, c := range cases {
			t.Run(era+" "+name, func(t *testing.T) {
				t.Parallel()
				var asked []string
				client := connectMCPAs(t, s, s.Token, "/mcp", func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked = append(asked, r.Params.Message)
					return &c.answer, nil
				}, revision...)
				result := client.call(t, &mcp.CallToolParams{Name: "asks", Arguments: map[string]any{"n": 1}})
				if got := statusOf(t, s, result); got != c.status || !strings.Contains(textOf(t, result), c.text) || result.IsError != (c.status != "succeeded") {
					t.Errorf("run %s, result %v %s", got, result.IsError, textOf(t, result))
				}
				if len(asked) != 1 || !strings.Contains(asked[0], `asks@1.0.0 waits for an approval`) || !strings.Contains(asked[0], `{"n":1}`) {
					t.Errorf("asked %q", asked)
				}
			})
		}
	}
}

func TestMCP_Approval_CallerWithoutTheScope_CannotApprove(t *testing.T) {
	t.Parallel()
	s := asking(t)
	token := runToken(t, s)
	for era, revision := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			ask := func(decideMeanwhile bool) *mcp.CallToolResult {
				client := connectMCPAs(t, s, token, "/mcp", func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					schema, err := json.Marshal(r.Params.RequestedSchema)
					if err != nil || strings.Contains(string(schema), "decision") {
						t.Errorf("the form is %s, %v", schema, err)
					}
					if decideMeanwhile {
						_, id, _ := strings.Cut(r.Params.Message, "/studio/approvals/")
						id, _, _ = strings.Cut(id, "\n")
						s.Want(t, 200, "POST", "/api/v1/approvals/"+id, map[string]any{"decision": "approve"})
					}
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
				}, revision...)
				return client.call(t, &mcp.CallToolParams{Name: "asks", Arguments: map[string]any{"n": 1}})
			}
			if result := ask(false); !result.IsError || statusOf(t, s, result) != "awaiting_approval" {
				t.Errorf("without a decision: %s", textOf(t, result))
			}
			if result := ask(true); result.IsError || textOf(t, result) != `{"n":2}` {
				t.Errorf("after the decision: %s", textOf(t, result))
			}
		})
	}
}

func TestMCP_Approval_ClientWithoutForms_GetsTheAddress(t *testing.T) {
	t.Parallel()
	s := asking(t)
	for era, revision := range eras {
		client := connectMCP(t, s, "/mcp", revision...)
		result := client.call(t, &mcp.CallToolParams{Name: "asks", Arguments: map[string]any{"n": 1}})
		if !result.IsError || !strings.Contains(textOf(t, result), "/studio/approvals/") || statusOf(t, s, result) != "awaiting_approval" {
			t.Errorf("%s: %s", era, textOf(t, result))
		}
	}
}

// If the gate escalates code, the call must wait in the same way as a tool. After the approval it must answer with the
// output.
func TestMCP_ExecuteCode_Escalated_Waits(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	setGate(t, s.Client, map[string]any{"gate": "enforce"})
	params := func() *mcp.CallToolParams {
		return &mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"language": "python", "code": "def main(input):\n    return eval('6 * 7')\n"}}
	}
	for era, revision := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			var asked string
			client := connectMCPAs(t, s, s.Token, "/mcp", func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked = r.Params.Message
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
			}, revision...)
			result := client.call(t, params())
			if got := textOf(t, result); result.IsError || !strings.Contains(got, `"output":42`) || !strings.Contains(asked, "Code that this client sent waits for an approval: Newly runs code that is chosen at run time (main.py:2).") {
				t.Errorf("approved: %s, asked %q", got, asked)
			}
			result = connectMCP(t, s, "/mcp", revision...).call(t, params())
			if !result.IsError || !strings.Contains(textOf(t, result), "/studio/approvals/") || statusOf(t, s, result) != "awaiting_approval" {
				t.Errorf("without forms: %s", textOf(t, result))
			}
		})
	}
}

func TestMCP_Approval_ForeignState_Refused(t *testing.T) {
	t.Parallel()
	s := asking(t)
	s.Create(t, map[string]any{"name": "other", "language": "javascript", "code": "export default () => 1"})
	s.Publish(t, "other", "1.0.0")
	waits := waitingRun(t, s.Client, "asks", map[string]any{"n": 1}).RunID // This run was started with the REST API.
	client := connectMCPAs(t, s, s.Token, "/mcp", nil)
	for tool, state := range map[string]string{"asks": waits, "other": waits} {
		_, err := client.CallTool(t.Context(), &mcp.CallToolParams{
			Name: tool, RequestState: state,
			InputResponses: mcp.InputResponseMap{"approval": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}},
		})
		if err == nil || !strings.Contains(err.Error(), "requestState") {
			t.Errorf("%s with the state %s: %v", tool, state, err)
		}
	}
	_, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "asks", RequestState: "no-such-run"})
	if err == nil || !strings.Contains(err.Error(), "requestState") {
		t.Errorf("unknown state: %v", err)
	}
}

func TestMCP_Session_OtherAddress_Refused(t *testing.T) {
	t.Parallel()
	s := asking(t)
	client := connectMCP(t, s, "/mcp/asks", "2025-11-25")
	headers := servertest.Headers{"Mcp-Session-Id": client.ID(), "Accept": "application/json, text/event-stream"}
	list := map[string]any{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
	s.Want(t, 200, "POST", "/mcp/asks", list, headers)
	if answer := s.Do(t, "POST", "/mcp", list, headers); answer.Status < 400 {
		t.Errorf("answered %d %s", answer.Status, answer.Body)
	}
}
