package runtimes

import "github.com/atelier-run/atelier/internal/jcs"

// Ecosystem is a kind of package registry with its package format.
type Ecosystem string

// Ecosystems of packages.
const (
	PyPI Ecosystem = "pypi" // wheels, for Python
	NPM  Ecosystem = "npm"  // tarballs, for JavaScript and TypeScript
)

// Lock is the exact list of packages that result from resolving a list of requirements for one platform. Every
// installation of a lock has the same files, because the lock contains the hashes of the archives.
type Lock struct {
	Ecosystem Ecosystem       `json:"ecosystem"`
	Platform  string          `json:"platform"` // interpreter and operating system, such as cp311-linux_x86_64
	Packages  []LockedPackage `json:"packages"` // sorted by path
}

// LockedPackage is one package of a lock.
type LockedPackage struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Path of an npm package's folder; needed because a lock may contain several versions of a package.
	Path    string `json:"path,omitempty"`
	Hash    string `json:"hash"`           // hash of the archive: sha256:… or sha512:…, hexadecimal
	URL     string `json:"url"`            // URL of the archive
	Size    int64  `json:"size,omitempty"` // size of the archive in bytes; 0 if the index does not report it
	License string `json:"license,omitempty"`
}

// Digest identifies the content that a lock installs. It covers the hashes of the archives but not their URLs.
func (l Lock) Digest() string {
	form := lockForm{Form: "atelier/lock/1", Ecosystem: l.Ecosystem, Platform: l.Platform, Packages: [][]string{}}
	for _, p := range l.Packages {
		form.Packages = append(form.Packages, []string{p.Name, p.Version, p.Path, p.Hash})
	}
	sum, err := jcs.DigestValue(form)
	if err != nil {
		return "" // cannot happen, because all strings of a lock are valid UTF-8
	}
	return sum
}

// lockForm is the JSON of a lock over which Digest computes the hash.
type lockForm struct {
	Form      string     `json:"form"`
	Ecosystem Ecosystem  `json:"ecosystem"`
	Platform  string     `json:"platform"`
	Packages  [][]string `json:"packages"` // name, version, path and hash of each package
}

// Installed is an unpacked lock, ready to be mounted into runs.
type Installed struct {
	Digest  string   // digest of the lock
	Dir     string   // folder on the host with the installed files; the files no longer change
	Modules []string // names that programs import, sorted
	// Sources maps paths that begin with node_modules to the source text of npm packages, for the bundler. Runs share the
	// map, so it must not be changed.
	Sources map[string]string
}
