package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	mechanism "github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/packages"
)

func (a *API) packageRoutes() {
	a.resolvePackages()
	a.getSBOM()
	a.listInstalledPackages()
	a.collectPackages()
	a.searchPackages()
	a.listPackageVersions()
	a.listPackageDependencies()
	a.getPackageTypes()
}

// PackagesBody requests the exact packages of a draft.
type PackagesBody struct {
	Renew   bool `json:"renew,omitempty" doc:"Resolve again and replace the exact packages of the draft. Published versions do not change."`
	Install bool `json:"install,omitempty" doc:"Also install the packages. The list of installed packages shows the progress."`
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
		about:      "Returns the exact package versions that runs of the draft use and that a publication keeps, and their differences from the latest version. A list of packages is resolved once; renew resolves it again.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.InvalidInput, fault.StaleDraft, fault.IndexUnavailable, fault.RuntimeUnavailable, fault.SandboxUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		seen, err := q.seen()
		if err != nil {
			return nil, err
		}
		found, err := a.Agents.ResolvePackages(ctx, actor(ctx), q.Agent, seen, q.Body.Renew, q.Body.Install)
		return &out{Body: found}, err
	})
}

func (a *API) getSBOM() {
	type out struct{ Body packages.BOM }
	add(a, endpoint{
		id: "getSBOM", method: http.MethodGet, path: Base + "/code-agents/{agent}/versions/{version}/sbom", tag: "versions", summary: "Get the bill of materials of a version",
		about:    "The packages of the version with hashes and licences, in CycloneDX JSON. Licences are read from the installed packages.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *VersionRef) (*out, error) {
		bom, err := a.Agents.SBOM(ctx, actor(ctx), q.Agent, q.Version)
		return &out{Body: bom}, err
	})
}

// InstalledPackages lists the installed locks of a workspace.
type InstalledPackages struct {
	Items   []packages.Installed   `json:"items"`
	Bytes   int64                  `json:"bytes" doc:"Total size of the unpacked files."`
	Running []mechanism.Installing `json:"running" doc:"Installations that have not finished yet."`
}

func (a *API) listInstalledPackages() {
	type out struct{ Body InstalledPackages }
	add(a, endpoint{
		id: "listInstalledLocks", method: http.MethodGet, path: Base + "/packages/installed", tag: "agents", summary: "List the installed packages of the workspace",
		about: "Each entry is one lock (a list of exact package versions) with its packages, the most recently used first. The list is complete.",
	}, func(ctx context.Context, _ *none) (*out, error) {
		all, err := a.Packages.Installed(ctx, actor(ctx).Workspace)
		list := InstalledPackages{Items: all, Running: a.Packages.Manager.Running(actor(ctx).Workspace)}
		for _, one := range all {
			list.Bytes += one.Bytes
		}
		return &out{Body: list}, err
	})
}

// CollectBody selects the installed packages that are removed.
type CollectBody struct {
	UnusedHours int64 `json:"unusedHours" minimum:"1" maximum:"87600" doc:"Hours since the last use."`
	DryRun      bool  `json:"dryRun,omitempty" doc:"Only list the packages that would be removed."`
}

func (a *API) collectPackages() {
	type in struct{ Body CollectBody }
	type out struct{ Body packages.Collected }
	add(a, endpoint{
		id: "collectPackages", method: http.MethodPost, path: Base + "/packages/gc", tag: "agents", summary: "Remove packages that are not used",
		about:      "Removes installations that no version uses and that no draft or inline program used for some time. Also removes archives that no installation uses. A later run installs missing packages again.",
		idempotent: true, refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		done, err := a.Packages.Collect(ctx, actor(ctx).Workspace, time.Duration(q.Body.UnusedHours)*time.Hour, q.Body.DryRun)
		return &out{Body: done}, err
	})
}

// PackageLanguageQuery is a query parameter that names the language of the packages.
type PackageLanguageQuery struct {
	Language runtimes.Language `query:"language" required:"true" doc:"Language of the packages."`
}

// FoundPackages lists packages that a search in an index has found.
type FoundPackages struct {
	Items []mechanism.Found `json:"items"`
}

func (a *API) searchPackages() {
	type in struct {
		PackageLanguageQuery
		Text string `query:"q" required:"true" minLength:"1" maxLength:"214" doc:"Part of a name. Python indexes find exact names only."`
	}
	type out struct{ Body FoundPackages }
	add(a, endpoint{
		id: "searchPackages", method: http.MethodGet, path: Base + "/packages/search", tag: "agents", summary: "Find packages by name",
		about:    "Searches the package index of the workspace. npm registries find parts of names. Python indexes have no search, so a Python package is found only by its exact name. Returns at most 20 packages, the best match first. The list is complete.",
		refusals: []fault.Code{fault.InvalidInput, fault.IndexUnavailable, fault.RuntimeUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		found, err := a.Packages.Search(ctx, actor(ctx).Workspace, q.Language, q.Text)
		return &out{Body: FoundPackages{Items: found}}, err
	})
}

// PackageVersions lists the versions of a package, the newest first.
type PackageVersions struct {
	Items []string `json:"items"`
}

func (a *API) listPackageVersions() {
	type in struct {
		PackageLanguageQuery
		Name string `query:"name" required:"true" minLength:"1" maxLength:"214" doc:"Exact name of the package."`
	}
	type out struct{ Body PackageVersions }
	add(a, endpoint{
		id: "listPackageVersions", method: http.MethodGet, path: Base + "/packages/versions", tag: "agents", summary: "List the versions of a package",
		about:    "Lists at most 500 versions, newest first. Pre-releases are omitted if there are other versions. Versions that a rule of the server forbids are always omitted. The list is empty if the index does not have the package. The list is complete.",
		refusals: []fault.Code{fault.InvalidInput, fault.IndexUnavailable, fault.RuntimeUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		all, err := a.Packages.Versions(ctx, actor(ctx).Workspace, q.Language, q.Name)
		return &out{Body: PackageVersions{Items: all}}, err
	})
}

// PackageDependencies lists the other packages that a package requires.
type PackageDependencies struct {
	Items []packages.Dependency `json:"items"`
}

func (a *API) listPackageDependencies() {
	type in struct {
		PackageLanguageQuery
		Name    string `query:"name" required:"true" minLength:"1" maxLength:"214" doc:"Exact name of the package."`
		Version string `query:"version" maxLength:"100" doc:"Version of the package (default: the newest)."`
	}
	type out struct{ Body PackageDependencies }
	add(a, endpoint{
		id: "listPackageDependencies", method: http.MethodGet, path: Base + "/packages/dependencies", tag: "agents", summary: "List the dependencies of a package",
		about:    "Lists the other packages that are installed with this package, by name. They are resolved as for a draft, and nothing is stored. A package that a rule of the server forbids is refused. The list is complete.",
		refusals: []fault.Code{fault.InvalidInput, fault.IndexUnavailable, fault.RuntimeUnavailable, fault.SandboxUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		all, err := a.Packages.Dependencies(ctx, actor(ctx).Workspace, q.Language, q.Name, q.Version)
		return &out{Body: PackageDependencies{Items: all}}, err
	})
}

func (a *API) getPackageTypes() {
	type in struct {
		AgentRef
		Version string `query:"version" default:"draft" doc:"Version number, or draft."`
	}
	type out struct{ Body packages.Types }
	add(a, endpoint{
		id: "getPackageTypes", method: http.MethodGet, path: Base + "/code-agents/{agent}/packages/types", tag: "agents", summary: "Get the types of the packages of an agent",
		about:    "For editors: declarations of installed npm packages, or stubs and sources of installed Python packages, at most 4 MiB. The packages in the agent's own list come first.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*out, error) {
		found, err := a.Agents.PackageTypes(ctx, actor(ctx), q.Agent, q.Version)
		return &out{Body: found}, err
	})
}
