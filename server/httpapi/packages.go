package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/packages"
)

func (a *API) packageRoutes() {
	a.resolvePackages()
	a.getSBOM()
	a.listInstalledPackages()
	a.collectPackages()
}

// PackagesBody asks for the exact packages of a draft.
type PackagesBody struct {
	Renew bool `json:"renew,omitempty" doc:"Resolve again and replace the exact packages of the draft. Versions keep theirs."`
}

func (a *API) resolvePackages() {
	type in struct {
		AgentRef
		DraftMatchQuery
		Body PackagesBody
	}
	type out struct{ Body agents.Resolved }
	add(a, endpoint{
		id: "resolvePackages", method: http.MethodPost, path: Base + "/code-agents/{agent}/packages/resolve", tag: "agents", summary: "Resolve the packages of a draft",
		about:      "The exact packages that the draft runs with and that publishing keeps, and how they differ from those of the latest version. A list is resolved once; renew resolves it again.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.InvalidInput, fault.StaleDraft, fault.IndexUnavailable, fault.RuntimeUnavailable, fault.SandboxUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		seen, err := q.seen()
		if err != nil {
			return nil, err
		}
		found, err := a.Agents.ResolvePackages(ctx, actor(ctx), q.Agent, seen, q.Body.Renew)
		return &out{Body: found}, err
	})
}

func (a *API) getSBOM() {
	type out struct{ Body packages.BOM }
	add(a, endpoint{
		id: "getSBOM", method: http.MethodGet, path: Base + "/code-agents/{agent}/versions/{version}/sbom", tag: "versions", summary: "Get the bill of materials of a version",
		about:    "The packages of the version with hashes and licences, in CycloneDX JSON. Licences are those that installed packages name.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *VersionRef) (*out, error) {
		bom, err := a.Agents.SBOM(ctx, actor(ctx), q.Agent, q.Version)
		return &out{Body: bom}, err
	})
}

// InstalledPackages lists the installed locks of a workspace.
type InstalledPackages struct {
	Items []packages.Installed `json:"items"`
	Bytes int64                `json:"bytes" doc:"Total size of the unpacked files."`
}

func (a *API) listInstalledPackages() {
	type out struct{ Body InstalledPackages }
	add(a, endpoint{
		id: "listInstalledLocks", method: http.MethodGet, path: Base + "/packages/installed", tag: "agents", summary: "List the installed packages of the workspace",
		about: "Each entry is one lock with its packages, the most recently used first. The list is complete.",
	}, func(ctx context.Context, _ *none) (*out, error) {
		all, err := a.Packages.Installed(ctx, actor(ctx).Workspace)
		list := InstalledPackages{Items: all}
		for _, one := range all {
			list.Bytes += one.Bytes
		}
		return &out{Body: list}, err
	})
}

// CollectBody says what is removed.
type CollectBody struct {
	UnusedHours int64 `json:"unusedHours" minimum:"1" maximum:"87600" doc:"Hours since the last use."`
}

func (a *API) collectPackages() {
	type in struct{ Body CollectBody }
	type out struct{ Body packages.Collected }
	add(a, endpoint{
		id: "collectPackages", method: http.MethodPost, path: Base + "/packages/gc", tag: "agents", summary: "Remove packages that are not used",
		about:      "Removes the installations that no version has and that no draft or inline program used for some time. A later run installs them again.",
		idempotent: true, refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		done, err := a.Packages.Collect(ctx, actor(ctx).Workspace, time.Duration(q.Body.UnusedHours)*time.Hour)
		return &out{Body: done}, err
	})
}
