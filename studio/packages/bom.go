package packages

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// BOM is a software bill of materials in the format CycloneDX 1.6.
type BOM struct {
	Format       string          `json:"bomFormat"`
	SpecVersion  string          `json:"specVersion"`
	Version      int             `json:"version"`
	Metadata     BOMMetadata     `json:"metadata"`
	Components   []BOMComponent  `json:"components"`
	Dependencies []BOMDependency `json:"dependencies"`
}

// BOMMetadata describes the version whose packages the BOM lists.
type BOMMetadata struct {
	Timestamp time.Time    `json:"timestamp"`
	Component BOMComponent `json:"component"`
}

// BOMComponent is the version, or one of its packages.
type BOMComponent struct {
	Type        string       `json:"type"`
	Ref         string       `json:"bom-ref"`
	Name        string       `json:"name"`
	Version     string       `json:"version"`
	Description string       `json:"description,omitempty"`
	Hashes      []BOMHash    `json:"hashes,omitempty"`
	Licenses    []BOMLicense `json:"licenses,omitempty"`
	PURL        string       `json:"purl,omitempty"`
}

// BOMHash is the hash of an archive.
type BOMHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// BOMLicense is the licence that a package declares.
type BOMLicense struct {
	License BOMLicenseName `json:"license"`
}

// BOMLicenseName is the name of a licence, as the package declares it.
type BOMLicenseName struct {
	Name string `json:"name"`
}

// BOMDependency lists the dependencies of a component.
type BOMDependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func bomOf(v registry.Version, details map[[2]string]packages.PackageDetail) BOM {
	bom := BOM{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: []BOMComponent{},
		Metadata: BOMMetadata{Timestamp: v.PublishedAt.UTC(), Component: BOMComponent{
			Type: "application", Ref: v.Reference(), Name: v.Agent, Version: v.Version, Description: v.Description,
			Hashes: []BOMHash{{"SHA-256", strings.TrimPrefix(v.Digest, "sha256:")}},
		}},
	}
	all := []string{}
	if v.Lock != nil {
		for _, p := range v.Lock.Packages {
			component := componentOf(v.Lock.Ecosystem, p, details[[2]string{p.Name, p.Version}])
			bom.Components, all = append(bom.Components, component), append(all, component.Ref)
		}
	}
	bom.Dependencies = []BOMDependency{{v.Reference(), all}}
	return bom
}

func componentOf(ecosystem runtimes.Ecosystem, p runtimes.LockedPackage, detail packages.PackageDetail) BOMComponent {
	algorithm, digest := "SHA-256", strings.TrimPrefix(p.Hash, "sha256:")
	if rest, ok := strings.CutPrefix(p.Hash, "sha512:"); ok {
		algorithm, digest = "SHA-512", rest
	}
	name := url.PathEscape(p.Name)
	if scope, rest, ok := strings.Cut(p.Name, "/"); ok {
		name = "%40" + url.PathEscape(strings.TrimPrefix(scope, "@")) + "/" + url.PathEscape(rest)
	}
	purl := "pkg:" + string(ecosystem) + "/" + name + "@" + url.PathEscape(p.Version)
	ref := purl
	if p.Path != "" { // npm may install the same version in several folders; list it only once.
		ref += "#" + p.Path
	}
	c := BOMComponent{Type: "library", Ref: ref, Name: p.Name, Version: p.Version, Description: detail.Summary, PURL: purl, Hashes: []BOMHash{{algorithm, digest}}}
	if license := cmp.Or(detail.License, p.License); license != "" {
		c.Licenses = []BOMLicense{{BOMLicenseName{license}}}
	}
	return c
}
