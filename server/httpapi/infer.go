package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/infer"
)

// InferBody contains either a program, or samples of its values.
type InferBody struct {
	Language    runtimes.Language        `json:"language,omitempty"`
	Code        string                   `json:"code,omitempty" doc:"Shorthand for files with only the entry file."`
	Files       map[string]registry.File `json:"files,omitempty" doc:"Content of each file, by relative path."`
	Entrypoint  string                   `json:"entrypoint,omitempty"`
	Environment map[string]string        `json:"environment,omitempty" doc:"Environment variables for a Python program while it is loaded."`
	Rules       *RulesBody               `json:"rules,omitempty"`
	Packages    []string                 `json:"packages,omitempty" doc:"Packages of the program, as in an agent. They are installed to load the program and to read their types."`
	Runtime     runtimes.Name            `json:"runtime,omitempty" doc:"Runtime that loads a program which exports its schemas (default: auto)."`
	Samples     []InferSample            `json:"samples,omitempty" doc:"Up to 100 sample values, instead of a program. The schemas are then a guess."`
}

// InferSample is the input of a call, its output, or both.
type InferSample struct {
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

func (a *API) infer() {
	type in struct{ Body InferBody }
	type out struct{ Body registry.InferredSchemas }
	add(a, endpoint{
		id: "infer", method: http.MethodPost, path: Base + "/infer", tag: "agents", summary: "Infer the schemas of a program",
		about: "Reads the types of main in the sandbox, with the limits of a run and without a network. For this a Python program is loaded, but main is not called. " +
			"A JavaScript or TypeScript program that exports schemas named input or output is loaded too; their library (Zod, or another library that supports Standard JSON Schema) converts them to JSON Schema. " +
			"Notes name the parts of a type that JSON Schema cannot express. If a program cannot be loaded or described, the error names the file and the line.",
		refusals: []fault.Code{fault.SandboxUnavailable, fault.RuntimeUnavailable, fault.QueueFull, fault.QuotaExceeded},
	}, func(ctx context.Context, q *in) (*out, error) {
		b := q.Body
		if len(b.Samples) > 0 {
			if b.Code != "" || len(b.Files) > 0 || len(b.Packages) > 0 {
				return nil, fault.Invalid("/samples", "must not be combined with code, files or packages.")
			}
			samples := make([]infer.Sample, len(b.Samples))
			for i, sample := range b.Samples {
				samples[i] = infer.Sample(sample)
			}
			found, err := a.Inference.FromSamples(samples)
			return &out{Body: found}, err
		}
		request := agents.Input{Language: &b.Language, Entrypoint: &b.Entrypoint, Environment: &b.Environment, Rules: (*runtimes.Rules)(b.Rules)}
		if b.Runtime != "" {
			request.Runtime = &b.Runtime
		}
		if len(b.Packages) > 0 {
			request.Packages = &b.Packages
		}
		switch {
		case b.Code != "" && len(b.Files) > 0:
			return nil, fault.Invalid("/code", "must not be combined with files.")
		case b.Code != "":
			request.Code = &b.Code
		default:
			request.Files = &b.Files
		}
		found, err := a.Inference.Infer(ctx, actor(ctx), agents.SpecOf(request))
		return &out{Body: found}, err
	})
}

func (a *API) inferFromRuns() {
	type in struct {
		AgentRef
		Runs    int    `query:"runs" minimum:"1" maximum:"100" default:"20" doc:"Number of newest runs to read."`
		Version string `query:"version" maxLength:"200" doc:"Only runs of this exact version; draft for those of the draft (default: all)."`
	}
	type out struct{ Body registry.InferredSchemas }
	add(a, endpoint{
		id: "inferFromRuns", method: http.MethodGet, path: Base + "/code-agents/{agent}/schemas-from-runs", tag: "agents", summary: "Guess schemas from recorded runs",
		about: "Returns schemas that match the recorded inputs of the newest runs, and the outputs of successful runs. The schemas are a guess; a note states the number of runs. " +
			"Runs of programs with the flag pii_risk have no recorded values and are skipped. At most 8 MiB of values are read.",
		refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		agent, err := a.Agents.Get(ctx, actor(ctx), q.Agent)
		if err != nil {
			return nil, err
		}
		found, err := a.Inference.FromRuns(ctx, actor(ctx), a.Runs, registry.RunFilter{Agent: agent.ID, Version: q.Version, Limit: q.Runs})
		return &out{Body: found}, err
	})
}
