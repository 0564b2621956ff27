package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/specs"
)

// InlineBody is a program that runs once and is not saved as an agent.
type InlineBody struct {
	Language      runtimes.Language        `json:"language"`
	Runtime       runtimes.Name            `json:"runtime,omitempty"`
	Code          string                   `json:"code,omitempty" doc:"Shorthand for files with only the entry file."`
	Files         map[string]registry.File `json:"files,omitempty"`
	Entrypoint    string                   `json:"entrypoint,omitempty"`
	Input         json.RawMessage          `json:"input,omitempty"`
	InputSchema   json.RawMessage          `json:"inputSchema,omitempty"`
	OutputSchema  json.RawMessage          `json:"outputSchema,omitempty"`
	Packages      []string                 `json:"packages,omitempty"`
	Environment   map[string]string        `json:"environment,omitempty"`
	Capabilities  *CapabilitiesBody        `json:"capabilities,omitempty"`
	Limits        *LimitsBody              `json:"limits,omitempty"`
	Rules         *RulesBody               `json:"rules,omitempty"`
	Isolation     runtimes.Isolation       `json:"isolation,omitempty" enum:"strict" doc:"strict uses a new process for each run."`
	Hints         *routing.Hints           `json:"hints,omitempty" doc:"Facts about this run, for the choice of its runtime."`
	ParentRunID   string                   `json:"parentRunId,omitempty" maxLength:"100"`
	WorkflowRunID string                   `json:"workflowRunId,omitempty" maxLength:"100"`
	NodeID        string                   `json:"nodeId,omitempty" maxLength:"100"`
}

func (a *API) executeInline() {
	type in struct {
		PreferOptions
		Body InlineBody
	}
	add(a, endpoint{
		modules: true, id: "executeInline", method: http.MethodPost, path: Base + "/execute", tag: "runs", summary: "Run inline code",
		about:      "Runs a program that is not saved as an agent. Waits for the outcome. A program that fails is answered with 200 and success: false.",
		idempotent: true, refusals: runRefusals(), answers: a.runAnswers(),
	}, func(ctx context.Context, q *in) (*runAnswer, error) {
		spec, err := inlineSpec(q.Body)
		if err != nil {
			return nil, err
		}
		answer, _, err := a.run(ctx, q.PreferOptions, runs.Request{
			Inline: &spec, Input: q.Body.Input, Limits: q.Body.Limits.limits(), Hints: hintsOf(q.Body.Hints),
			ParentRunID: q.Body.ParentRunID, WorkflowRunID: q.Body.WorkflowRunID, NodeID: q.Body.NodeID,
		})
		return answer, err
	})
}

func inlineSpec(b InlineBody) (registry.Spec, error) {
	spec := registry.Spec{
		Language: b.Language, Runtime: b.Runtime, Files: b.Files, Entrypoint: b.Entrypoint, InputSchema: b.InputSchema, OutputSchema: b.OutputSchema,
		Packages: b.Packages, Environment: b.Environment, Isolation: b.Isolation,
	}
	spec.Rules = (*runtimes.Rules)(b.Rules)
	if b.Capabilities != nil {
		spec.Capabilities = runtimes.Capabilities{Hosts: b.Capabilities.Hosts, HostFunctions: b.Capabilities.HostFunctions, Subprocess: b.Capabilities.Subprocess, Tools: b.Capabilities.Tools, Files: (*runtimes.Files)(b.Capabilities.Files)}
	}
	if b.Code == "" {
		return spec, nil
	}
	if len(b.Files) > 0 {
		return spec, fault.Invalid("/code", "must not be combined with files.")
	}
	if spec.Entrypoint == "" {
		spec.Entrypoint = specs.Entrypoint(b.Language)
	}
	spec.Files = map[string]registry.File{spec.Entrypoint: registry.File(b.Code)}
	return spec, nil
}
