package packages

import (
	"context"
	_ "embed" // embeds the script
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

//go:embed build.py
var buildPython string

// withScripts is a suffix of an npm lock's platform. It means that install scripts run. The platform is part of the
// digest of a lock, so the same packages with and without scripts are separate installations.
const withScripts = "+scripts"

// AllWorkspaces in Options.Builds stands for every workspace.
const AllWorkspaces = "*"

// builds reports whether the packages of a workspace may run their own code while they are resolved and installed.
func (m *Manager) builds(workspace string) bool {
	return slices.Contains(m.options.Builds, workspace) || slices.Contains(m.options.Builds, AllWorkspaces)
}

// isSource reports whether a locked Python package is a source distribution.
func isSource(p runtimes.LockedPackage) bool {
	address, err := url.Parse(p.URL)
	return err == nil && (strings.HasSuffix(address.Path, ".tar.gz") || strings.HasSuffix(address.Path, ".zip"))
}

// checkBuilds refuses a lock if its installation runs code of packages and the workspace does not allow that. The check
// is needed because a lock may be older than the setting or come from another workspace.
func (m *Manager) checkBuilds(workspace string, lock runtimes.Lock) error {
	if m.builds(workspace) {
		return nil
	}
	const remedy = "Resolve the packages again, or ask the operator of the server to add the workspace to --package-builds."
	switch lock.Ecosystem {
	case runtimes.NPM:
		if strings.HasSuffix(lock.Platform, withScripts) {
			return &Problem{Code: "refused", Message: "The packages run install scripts, which this workspace does not allow.", Remedy: remedy}
		}
	case runtimes.PyPI:
		for _, p := range lock.Packages {
			if isSource(p) {
				return &Problem{Code: "refused", Package: p.Name, Message: "is built from source, which this workspace does not allow.", Remedy: remedy}
			}
		}
	}
	return nil
}

// build replaces the source distributions in staging/archives with wheels. names[i] is the file name of the archive of
// lock.Packages[i].
func (m *Manager) build(ctx context.Context, lock runtimes.Lock, names []string, source Source, staging string, progress func(Progress)) error {
	type archive struct {
		File   string `json:"file"`
		Name   string `json:"name"` // a file name that contains name and version, as builders require
		Number int    `json:"number"`
	}
	var sources []archive
	for i, p := range lock.Packages {
		if address, err := url.Parse(p.URL); err == nil && isSource(p) {
			sources = append(sources, archive{names[i], path.Base(address.Path), i})
		}
	}
	if len(sources) == 0 {
		return nil
	}
	uv, err := m.resolver(m.options.UV)
	if err != nil {
		return err
	}
	to := filepath.Join(staging, "built")
	if err := os.Mkdir(to, 0o755); err != nil { //nolint:gosec // the jail that unpacks must be able to enter the folder
		return err
	}
	defer os.RemoveAll(to) // if the removal fails, only temporary files remain
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	built := 0
	w := newWriter(root, m.options.Archive, len(lock.Packages), func(int) { progress(Progress{Step: "building", Done: built, Total: len(sources)}); built++ })
	limits := m.limits(unpackTime)
	limits.OutputBytes = m.options.Archive + 1<<20 // 1 MiB more than the wheels, for the lines between them
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	building := step{
		name: "build", script: buildPython, limits: limits, network: true, env: append(program.Network(), certificates()...),
		mounts:  append(program.Certificates(), sandbox.Mount{Host: filepath.Join(staging, "archives"), Path: "/archives", Private: true}, sandbox.Mount{Host: uv, Path: resolverPath}),
		request: map[string]any{"uv": resolverPath, "index": source.Index, "archives": sources},
		tap: func(p []byte) {
			if w.write(p); w.err != nil {
				cancel()
			}
		},
	}
	_, outcome, err := m.run(ctx, building)
	if err != nil && w.err == nil {
		return err
	}
	if err := w.close(); err != nil {
		return m.unpackFailed(ctx, lock, w, err, outcome.Error)
	}
	for _, one := range sources {
		if err := os.Rename(filepath.Join(to, one.File), filepath.Join(staging, "archives", one.File)); err != nil {
			return err
		}
	}
	return nil
}

// certificates returns the environment variables that point resolvers to the trusted certificates in the jail.
func certificates() []string {
	for _, mount := range program.Certificates() {
		if mount.Path == "/etc/ssl/certs" {
			const all = "/etc/ssl/certs/ca-certificates.crt"
			return []string{"SSL_CERT_FILE=" + all, "NODE_EXTRA_CA_CERTS=" + all}
		}
	}
	return nil
}
