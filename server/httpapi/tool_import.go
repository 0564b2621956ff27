package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
)

// ImportToolBody contains the definition of a tool of another system.
type ImportToolBody struct {
	Tool     json.RawMessage   `json:"tool" doc:"A function of OpenAI for Chat Completions or the Responses API, a tool of MCP or Anthropic, or a tool of LangChain with its schema."`
	Name     string            `json:"name,omitempty" maxLength:"63" doc:"Name of the agent (default: derived from the name of the tool)."`
	Language runtimes.Language `json:"language,omitempty" enum:"typescript,javascript,python,bash" default:"typescript"`
}

func (a *API) importTool() {
	type in struct{ Body ImportToolBody }
	type answer struct {
		ETag     string   `header:"ETag" doc:"Revision of the draft, in quotes."`
		Location string   `header:"Location"`
		Notes    []string `header:"Atelier-Warning" doc:"A JSON string: what differs from the definition. May occur several times."`
		Body     Agent
	}
	add(a, endpoint{
		id: "importTool", method: http.MethodPost, path: Base + "/code-agents/import-tool", tag: "agents", summary: "Import a tool as a draft",
		about:  "Creates an agent with the name, the description and the schemas of a tool from another system. Its program is a stub. Errors name the field of the tool definition.",
		status: http.StatusCreated, idempotent: true, refusals: []fault.Code{fault.InvalidInput, fault.NameTaken},
	}, func(ctx context.Context, q *in) (*answer, error) {
		agent, notes, err := a.Agents.ImportTool(keyed(ctx), actor(ctx), agents.ToolImport{Tool: q.Body.Tool, Name: q.Body.Name, Language: q.Body.Language})
		if err != nil {
			return nil, err
		}
		made := answerWith(agent)
		texts, err := quoted(notes)
		return &answer{ETag: made.ETag, Location: a.BasePath + Base + "/code-agents/" + agent.ID, Notes: texts, Body: made.Body}, err
	})
}
