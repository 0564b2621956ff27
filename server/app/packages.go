package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/runtimes/worker"
	studio "github.com/atelier-run/atelier/studio/packages"
)

// openPackages returns the package manager. Its egress proxy allows larger downloads than the proxy of programs.
func (b *Engines) openPackages(jailer worker.Jailer, python string, log *slog.Logger) *packages.Manager {
	limits := egress.Limits{Requests: 20_000, Connections: 64, Bytes: 4 << 30, Answer: 1 << 20, Dial: 10 * time.Second, Exchange: 10 * time.Minute}
	return packages.New(packages.Options{
		Jailer: jailer, Egress: egress.New(egress.Options{Server: b.listeners.all, Meter: &b.traffic, Limits: limits}), Dir: packagesDir(b.config.PackagesDir, b.config.Data),
		Node: interpreter(b.config.Node, "node"), NPM: npm(b.config.NPM), Python: python, Builds: b.config.PackageBuilds, UV: interpreter(b.config.UV, "uv"), Quota: b.config.PackagesQuota, Hosts: b.config.PackageHosts,
		Indexes: map[runtimes.Ecosystem]string{runtimes.PyPI: b.config.PythonIndex, runtimes.NPM: b.config.NPMRegistry}, Log: log,
	})
}

// npm returns the path of npm: the configured path, or the path of the npm that is installed with Node. If there is
// none, it returns "".
func npm(configured string) string {
	if configured != "" {
		return configured
	}
	for _, modules := range []string{"/usr/lib/node_modules", "/usr/local/lib/node_modules", "/usr/share/nodejs"} {
		path := filepath.Join(modules, "npm", "bin", "npm-cli.js")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// packagesDir returns the directory of installed packages. This is the configured directory, or by default one in the
// data directory. If the server runs as root, sandboxes run as other users; if these cannot enter the data directory,
// it is a directory below /var/lib.
func packagesDir(configured, data string) string {
	if configured != "" {
		return configured
	}
	data, err := filepath.Abs(data)
	if err != nil {
		data = filepath.Clean("/" + data) // Abs fails only if the process has no working directory.
	}
	if dir := filepath.Join(data, "packages"); packages.Reachable(dir) {
		return dir
	}
	sum := sha256.Sum256([]byte(data))
	return filepath.Join("/var/lib/atelier-packages", hex.EncodeToString(sum[:8]))
}

// noLocks replaces the stored package locks if there is no database. Each process then resolves the versions again.
type noLocks struct{}

func (noLocks) PackageLock(context.Context, string, string, string) (registry.PackageLock, bool, error) {
	return registry.PackageLock{}, false, nil
}

func (noLocks) PutPackageLock(context.Context, registry.PackageLock) error { return nil }

func (noLocks) UsePackageLock(context.Context, string, string, string, time.Time) error { return nil }

// packages returns the service that installs packages for programs.
func (b *Engines) packages(store studio.Store, used studio.Used, now func() time.Time) *studio.Service {
	return studio.New(studio.Options{
		Store: store, Used: used, Manager: b.Packages, Allow: rulesOf(b.config.AllowPackages), Block: rulesOf(b.config.BlockPackages), Now: now,
	})
}

func rulesOf(all []config.PackageRule) []studio.Rule {
	rules := make([]studio.Rule, 0, len(all))
	for _, one := range all {
		rules = append(rules, studio.Rule(one))
	}
	return rules
}
