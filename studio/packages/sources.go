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

// These are the names of the secrets with which a workspace configures its own package index. They equal the
// environment variables of the package tools.
var (
	pythonSecrets = []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"} // the first secret in this list that is set applies
	npmSecrets    = []string{"NPMRC", "NPM_CONFIG_REGISTRY", "NPM_TOKEN"}
)

// Sources reads the package indexes of workspaces from their secrets.
type Sources struct{ Secrets Secrets }

// Source returns the package index of a workspace. If the workspace has no index of its own, Source returns the zero
// value.
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
		found.Token, found.Place = strings.TrimSpace(values["NPM_TOKEN"]), "" // The token belongs to the registry that is used.
	}
	return found, nil
}
