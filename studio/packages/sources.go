package packages

import (
	"context"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// Secrets decrypts secrets of a workspace.
type Secrets interface {
	Values(ctx context.Context, workspace string, names ...string) (map[string]string, error)
}

// Names of the secrets with which a workspace has an index of its own. The names are those of the tools' variables.
var (
	pythonSecrets = []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"} // the first that is set counts
	npmSecrets    = []string{"NPMRC", "NPM_CONFIG_REGISTRY", "NPM_TOKEN"}
)

// Sources finds the indexes of workspaces in their secrets.
type Sources struct{ Secrets Secrets }

// Source returns the index of a workspace, and the zero value if it has none of its own.
func (s Sources) Source(ctx context.Context, workspace string, ecosystem runtimes.Ecosystem) (packages.Source, error) {
	if ecosystem == runtimes.PyPI {
		values, err := s.Secrets.Values(ctx, workspace, pythonSecrets...)
		for _, name := range pythonSecrets {
			if values[name] != "" {
				return packages.Source{Index: strings.TrimSpace(values[name])}, err
			}
		}
		return packages.Source{}, err
	}
	values, err := s.Secrets.Values(ctx, workspace, npmSecrets...)
	if err != nil {
		return packages.Source{}, err
	}
	found, err := packages.ReadNPMRC(values["NPMRC"])
	if err != nil {
		return found, &packages.Problem{Code: "index", Message: "The secret NPMRC of the workspace is not usable: " + err.Error() + ".", Remedy: "Set it again."}
	}
	if values["NPM_CONFIG_REGISTRY"] != "" {
		found.Index = strings.TrimSpace(values["NPM_CONFIG_REGISTRY"])
	}
	if values["NPM_TOKEN"] != "" {
		found.Token, found.Place = strings.TrimSpace(values["NPM_TOKEN"]), "" // it is for the registry that is used
	}
	return found, nil
}
