package skillsapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/assist"
	"github.com/atelier-run/atelier/studio/toolmaker"
)

// taskedSkill is the answer to POST /v1/skills/autonomous_skill_task, which finds or makes a tool for a task. It has
// the content of POST /api/v1/assist/tools with the field names of existing clients.
type taskedSkill struct {
	Success      bool              `json:"success"` // false if there is no tool; the field error then contains the reason
	Outcome      toolmaker.Outcome `json:"outcome,omitempty" enum:"found,waiting,drafted,published"`
	Name         string            `json:"name,omitempty"`
	AgentID      string            `json:"agent_id,omitempty"`
	Publisher    string            `json:"publisher,omitempty"` // workspace that lists the tool in the public registry
	Version      string            `json:"version,omitempty"`   // "" if the tool is a draft
	State        string            `json:"state,omitempty" enum:"active,draft"`
	Reason       string            `json:"reason"`
	Description  string            `json:"description,omitempty"`
	InputSchema  json.RawMessage   `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage   `json:"output_schema,omitempty"`
	Verdict      *registry.Verdict `json:"verdict,omitempty"` // verdict about a new tool
	Tokens       *registry.Tokens  `json:"tokens,omitempty"`  // tokens that were used to make a new tool
	Error        *string           `json:"error"`
	ErrorType    *string           `json:"error_type"` // code of the error
}

// autonomousTask finds a tool for a task, or lets the language model make one. If both fail, it answers with success
// false.
func (d *API) autonomousTask(w http.ResponseWriter, r *http.Request) {
	var q autonomousRequest
	err := d.decode(w, r, "autonomous_skill_task", &q)
	if err == nil {
		err = gate.Require(r.Context(), registry.RunScope) // This scope is required because a new tool is run.
	}
	if string(q.InputExample) == "null" {
		q.InputExample = nil
	}
	var tool toolmaker.Tool
	if err == nil {
		task := q.UserText
		if q.Intent != nil && *q.Intent != "" {
			task += "\n" + *q.Intent
		}
		tool, err = d.Toolmaker.Find(r.Context(), actor(r), toolmaker.Request{
			Task: task, InputExample: q.InputExample, Language: runtimes.Python, Promote: q.AutoPromote && gate.Require(r.Context(), registry.ApproveScope) == nil,
		}, func(assist.Attempt) {}) // Do not send attempts, because these clients read only the final answer.
	}
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.ModelUnavailable {
		message, kind := sentence(d.Problems.Describe(r.Context(), err)), string(f.Code)
		d.write(w, r, http.StatusOK, taskedSkill{Reason: message, Error: &message, ErrorType: &kind})
		return
	}
	if err != nil {
		d.violation(w, r, err)
		return
	}
	state := "active"
	if tool.Version == "" {
		state = "draft"
	}
	d.write(w, r, http.StatusOK, taskedSkill{
		Success: true, Outcome: tool.Outcome, Name: tool.Name, AgentID: tool.AgentID, Publisher: tool.Publisher, Version: tool.Version, State: state, Reason: tool.Reason,
		Description: tool.Description, InputSchema: tool.InputSchema, OutputSchema: tool.OutputSchema, Verdict: tool.Verdict, Tokens: tool.Tokens,
	})
}
