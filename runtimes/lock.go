package runtimes

import "github.com/atelier-run/atelier/internal/jcs"

// Ecosystem is the world that packages come from.
type Ecosystem string

// Ecosystems of packages.
const (
	PyPI Ecosystem = "pypi" // wheels, for Python
	NPM  Ecosystem = "npm"  // tarballs, for JavaScript and TypeScript
)

// Lock is the exact list of packages for one list of requirements on one platform. Every installation of it has the same
// files, by their hashes.
type Lock struct {
	Ecosystem Ecosystem       `json:"ecosystem"`
	Platform  string          `json:"platform"` // interpreter and system that the files are for, such as cp311-linux_x86_64
	Packages  []LockedPackage `json:"packages"` // sorted by path
}

// LockedPackage is one package of a lock.
type LockedPackage struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Path    string `json:"path,omitempty"` // its folder, where one name may have several versions
	Hash    string `json:"hash"`           // of the archive: sha256:… or sha512:…, hexadecimal
	URL     string `json:"url"`            // of the archive
	Size    int64  `json:"size,omitempty"` // of the archive in bytes, 0 if the index does not say
	License string `json:"license,omitempty"`
}

// Digest identifies what a lock installs. The place of an archive does not count: its hash does.
func (l Lock) Digest() string {
	form := lockForm{Form: "atelier/lock/1", Ecosystem: l.Ecosystem, Platform: l.Platform, Packages: [][]string{}}
	for _, p := range l.Packages {
		form.Packages = append(form.Packages, []string{p.Name, p.Version, p.Path, p.Hash})
	}
	sum, err := jcs.DigestValue(form)
	if err != nil {
		return "" // unreachable: texts of a lock are UTF-8
	}
	return sum
}

// lockForm is the digested JSON of a lock.
type lockForm struct {
	Form      string     `json:"form"`
	Ecosystem Ecosystem  `json:"ecosystem"`
	Platform  string     `json:"platform"`
	Packages  [][]string `json:"packages"` // name, version, path and hash of each
}

// Installed is an unpacked lock, ready to be mounted into runs.
type Installed struct {
	Digest  string   // of the lock
	Dir     string   // on the host; nothing writes there any more
	Modules []string // names that programs import, sorted
	// Sources are the files of npm packages that a bundler reads, by path from node_modules on. Nothing changes them.
	Sources map[string]string
}
