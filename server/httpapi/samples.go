package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/atelier-run/atelier/runtimes"
)

// Sample is an example agent to start from. Agent is the request body that creates the agent.
type Sample struct {
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Language    runtimes.Language `json:"language"`
	Input       json.RawMessage   `json:"input" doc:"Example input."`
	Agent       agentBody         `json:"agent"`
}

// SampleList lists the samples, the recommended one first.
type SampleList struct {
	Items []Sample `json:"items"`
}

func (a *API) listSamples() {
	type out struct{ Body SampleList }
	add(a, endpoint{
		id: "listSamples", method: http.MethodGet, path: Base + "/samples", tag: "agents", summary: "List sample agents",
		about: "Lists example agents. The body of each can be sent to POST /code-agents to create an agent. The list is complete.",
	}, func(context.Context, *none) (*out, error) {
		answer := &out{Body: SampleList{Items: make([]Sample, 0, len(a.Samples))}}
		for _, s := range a.Samples {
			answer.Body.Items = append(answer.Body.Items, Sample{
				Name: s.Name, Title: s.Title, Description: s.Description, Language: s.Language, Input: s.Input, Agent: agentBody{s.Agent},
			})
		}
		return answer, nil
	})
}
