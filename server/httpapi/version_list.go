package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// VersionSummary is a version in a list.
type VersionSummary struct {
	Version       string            `json:"version"`
	Reference     string            `json:"reference"`
	Digest        string            `json:"digest"`
	ContentDigest string            `json:"contentDigest"`
	CodeDigest    string            `json:"codeDigest"`
	Changelog     string            `json:"changelog"`
	PublishedAt   time.Time         `json:"publishedAt"`
	PublishedBy   string            `json:"publishedBy"`
	Deprecated    bool              `json:"deprecated"`
	Reason        string            `json:"reason,omitempty"`
	Successor     string            `json:"successor,omitempty"`
	Language      runtimes.Language `json:"language"`
	Runtime       runtimes.Name     `json:"runtime"`
	// RuntimeChoice explains which runtime was chosen for auto.
	RuntimeChoice *registry.RuntimeChoice `json:"runtimeChoice,omitempty"`
}

// VersionPage lists the versions of an agent, newest first.
type VersionPage struct {
	Items      []VersionSummary `json:"items"`
	NextCursor string           `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

func versionSummaryOf(v registry.Version) VersionSummary {
	return VersionSummary{
		Version: v.Version, Reference: v.Reference(), Digest: v.Digest, ContentDigest: v.ContentDigest, CodeDigest: v.CodeDigest, Changelog: v.Changelog,
		PublishedAt: v.PublishedAt, PublishedBy: v.PublishedBy, Deprecated: v.Deprecated, Reason: v.Reason, Successor: v.Successor, Language: v.Language, Runtime: v.Runtime, RuntimeChoice: v.RuntimeChoice,
	}
}

func (a *API) listVersions() {
	type in struct {
		AgentRef
		ListPaging
	}
	type out struct {
		Renamed string `header:"Atelier-Renamed" doc:"Current name of the agent, if the request used a former name."`
		Body    VersionPage
	}
	add(a, endpoint{
		id: "listVersions", method: http.MethodGet, path: Base + "/code-agents/{agent}/versions", tag: "versions", summary: "List versions, newest first",
		about:    "All published versions with their digests, without files.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*out, error) {
		versions, err := a.Agents.ListVersions(ctx, actor(ctx), q.Agent)
		if err != nil {
			return nil, err
		}
		page, next, err := pageOf(q.ListPaging, "versions", versions, func(v registry.Version) string { return v.Version })
		if err != nil {
			return nil, err
		}
		answer := &out{Body: VersionPage{Items: make([]VersionSummary, 0, len(page)), NextCursor: next}}
		for _, v := range page {
			answer.Renamed = renamed(q.Agent, v)
			answer.Body.Items = append(answer.Body.Items, versionSummaryOf(v))
		}
		return answer, nil
	})
}
