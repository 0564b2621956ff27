package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// ListedRef contains the path parameters that name an agent of the public registry.
type ListedRef struct {
	Publisher string `path:"publisher" maxLength:"100" doc:"Name of the workspace that lists the agent."`
	Name      string `path:"name" maxLength:"100" doc:"Current or former name."`
}

// ListedAgent is an agent of the public registry. Its latest version describes it.
type ListedAgent struct {
	ID               string            `json:"id"`
	Publisher        string            `json:"publisher" doc:"Workspace that lists the agent."`
	Name             string            `json:"name"`
	Title            string            `json:"title"`
	Description      string            `json:"description"`
	Tags             []string          `json:"tags"`
	Language         runtimes.Language `json:"language"`
	LatestVersion    string            `json:"latestVersion" doc:"Version that latest resolves to."`
	LatestDeprecated bool              `json:"latestDeprecated,omitempty" doc:"true if all versions are deprecated."`
	UsageCount       int64             `json:"usageCount"`
	Versions         []ListedVersion   `json:"versions" doc:"Released versions, newest first."`
}

// ListedVersion is a released version without the person who published it.
type ListedVersion struct {
	Version     string        `json:"version"`
	Digest      string        `json:"digest"`
	Changelog   string        `json:"changelog"`
	PublishedAt time.Time     `json:"publishedAt"`
	Deprecated  bool          `json:"deprecated"`
	Reason      string        `json:"reason,omitempty"`
	Successor   string        `json:"successor,omitempty"`
	Runtime     runtimes.Name `json:"runtime"`
}

func (a *API) getListedAgent() {
	type out struct{ Body ListedAgent }
	add(a, endpoint{
		id: "getListedAgent", method: http.MethodGet, path: Base + "/code-agents/registry/{publisher}/{name}", tag: "registry", summary: "Get an agent of the public registry",
		about:    "Returns the agent with the list of its released versions. Other workspaces cannot see drafts.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *ListedRef) (*out, error) {
		found, err := a.Catalog.Agent(ctx, q.Publisher, q.Name)
		if err != nil {
			return nil, err
		}
		body := ListedAgent{
			ID: found.ID, Publisher: found.Publisher, Name: found.Name, Title: found.Title, Description: found.Description, Tags: orEmpty(found.Tags), Language: found.Draft.Language,
			LatestVersion: found.LatestVersion, LatestDeprecated: found.LatestDeprecated, UsageCount: found.UsageCount, Versions: make([]ListedVersion, 0, len(found.Versions)),
		}
		for _, v := range found.Versions {
			body.Versions = append(body.Versions, listedVersionOf(v))
		}
		return &out{Body: body}, nil
	})
}

func listedVersionOf(v registry.Version) ListedVersion {
	return ListedVersion{
		Version: v.Version, Digest: v.Digest, Changelog: v.Changelog, PublishedAt: v.PublishedAt,
		Deprecated: v.Deprecated, Reason: v.Reason, Successor: v.Successor, Runtime: v.Runtime,
	}
}

func (a *API) getListedVersion() {
	type in struct {
		ListedRef
		Version string `path:"version" maxLength:"200" doc:"Version: 1.2.0, ^1, latest or sha256:…."`
	}
	type out struct{ Body registry.Version }
	add(a, endpoint{
		id: "getListedVersion", method: http.MethodGet, path: Base + "/code-agents/registry/{publisher}/{name}/versions/{version}", tag: "registry", summary: "Get a version of the public registry with its files",
		about: "The field publishedBy is empty, because only members of the publishing workspace can see it.", cached: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*out, error) {
		v, err := a.Catalog.Version(ctx, q.Publisher, q.Name, q.Version)
		if err != nil {
			return nil, err
		}
		return &out{Body: v}, nil
	})
}
