package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// ResolveBody lists the references to resolve, such as weather@^1.
type ResolveBody struct {
	References []string `json:"references" minItems:"1" maxItems:"100"`
}

// ResolvedReference is the result for one reference: a version or an error.
type ResolvedReference struct {
	Reference  string      `json:"reference"`
	Pinned     string      `json:"pinned,omitempty" doc:"Exact reference that it resolves to."`
	AgentID    string      `json:"agentId,omitempty"`
	Agent      string      `json:"agent,omitempty"`
	Renamed    string      `json:"renamed,omitempty" doc:"Current name of the agent, if the reference uses a former name. Both names work."`
	Version    string      `json:"version,omitempty"`
	Digest     string      `json:"digest,omitempty"`
	Deprecated bool        `json:"deprecated,omitempty"`
	Reason     string      `json:"reason,omitempty" doc:"Reason of the deprecation."`
	Successor  string      `json:"successor,omitempty" doc:"Reference to use instead."`
	Error      *Unresolved `json:"error,omitempty"`
}

// Unresolved explains why a reference cannot be resolved.
type Unresolved struct {
	Code   fault.Code `json:"code"`
	Detail string     `json:"detail"`
}

// ResolvedReferences has one item for each reference, in the order of the request.
type ResolvedReferences struct {
	Items []ResolvedReference `json:"items"`
}

func (a *API) resolveReferences() {
	type in struct{ Body ResolveBody }
	type out struct{ Body ResolvedReferences }
	add(a, endpoint{
		id: "resolveReferences", method: http.MethodPost, path: Base + "/references/resolve", tag: "versions", summary: "Resolve references",
		about: "A reference that cannot be resolved does not affect the others.",
	}, func(ctx context.Context, q *in) (*out, error) {
		answer := &out{Body: ResolvedReferences{Items: make([]ResolvedReference, 0, len(q.Body.References))}}
		refs, wrong := make([]registry.Reference, len(q.Body.References)), make([]error, len(q.Body.References))
		for i, text := range q.Body.References {
			refs[i], wrong[i] = registry.ParseReference(text)
		}
		found, err := a.Agents.FindAll(ctx, actor(ctx), refs)
		if err != nil {
			return nil, err
		}
		for i, text := range q.Body.References {
			if wrong[i] == nil {
				wrong[i] = found[i].Err
			}
			answer.Body.Items = append(answer.Body.Items, a.resolved(ctx, text, refs[i], found[i].Version, wrong[i]))
		}
		return answer, nil
	})
}

func (a *API) resolved(ctx context.Context, text string, ref registry.Reference, v registry.Version, err error) ResolvedReference {
	if err == nil {
		return ResolvedReference{Reference: text, Pinned: v.Reference(), AgentID: v.AgentID, Agent: v.Agent, Renamed: renamed(ref.Agent, v), Version: v.Version, Digest: v.Digest, Deprecated: v.Deprecated, Reason: v.Reason, Successor: v.Successor}
	}
	doc := a.Problems.Describe(ctx, err)
	why := doc.Detail
	if len(doc.Errors) > 0 {
		why = strings.TrimPrefix(doc.Errors[0].Pointer, "/") + " " + doc.Errors[0].Message
	}
	return ResolvedReference{Reference: text, Error: &Unresolved{Code: doc.Code, Detail: why}}
}
