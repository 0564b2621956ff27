package packages

import (
	"context"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// Search finds packages of a language whose names contain a text. For Python it finds only the exact name, because
// Python indexes have no search.
func (s *Service) Search(ctx context.Context, workspace string, language runtimes.Language, text string) ([]packages.Found, error) {
	ecosystem, err := ecosystemOf(language)
	if err != nil {
		return nil, err
	}
	found, err := s.Manager.Search(ctx, workspace, ecosystem, text)
	if err != nil {
		return nil, faultOf(err, packages.Declaration{})
	}
	return found, nil
}

// Versions lists the versions of a package, newest first. It omits versions that a rule forbids.
func (s *Service) Versions(ctx context.Context, workspace string, language runtimes.Language, name string) ([]string, error) {
	ecosystem, err := ecosystemOf(language)
	if err != nil {
		return nil, err
	}
	all, err := s.Manager.Versions(ctx, workspace, ecosystem, name)
	if err != nil {
		return nil, faultOf(err, packages.Declaration{})
	}
	allowed := []string{}
	for _, version := range all {
		if s.allowed(workspace, runtimes.Lock{Ecosystem: ecosystem, Packages: []runtimes.LockedPackage{{Name: name, Version: version}}}) == nil {
			allowed = append(allowed, version)
		}
	}
	return allowed, nil
}

// Dependency is a package that another package requires, directly or indirectly.
type Dependency struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Bytes   int64  `json:"bytes,omitempty" doc:"Size of the archive. Absent if the index does not report it."`
}

// Dependencies lists the other packages that would be installed if an agent named only this package. It resolves the
// packages without storing the result. If no version is given, it uses the newest one. If a rule forbids one of the
// packages, it returns an error.
func (s *Service) Dependencies(ctx context.Context, workspace string, language runtimes.Language, name, version string) ([]Dependency, error) {
	if _, err := ecosystemOf(language); err != nil {
		return nil, err
	}
	entry := name
	if version != "" && language == runtimes.Python {
		entry += "==" + version
	} else if version != "" {
		entry += "@" + version
	}
	named, err := packages.Declared(language, []string{entry}, map[string][]byte{})
	if err != nil {
		return nil, fault.Invalid("/name", "must be the name of a package, and version must be one of its versions.")
	}
	lock, err := s.Manager.Resolve(ctx, workspace, named)
	if err == nil {
		err = s.allowed(workspace, lock)
	}
	if err != nil {
		return nil, faultOf(err, packages.Declaration{})
	}
	all := []Dependency{}
	for _, p := range lock.Packages {
		if p.Name != named.Requirements[0].Name {
			all = append(all, Dependency{Name: p.Name, Version: p.Version, Bytes: p.Size})
		}
	}
	return all, nil
}

func ecosystemOf(language runtimes.Language) (runtimes.Ecosystem, error) {
	ecosystem, ok := packages.EcosystemOf(language)
	if !ok {
		return "", fault.Invalid("/language", "must be python, javascript or typescript; %s has no packages.", language)
	}
	return ecosystem, nil
}

// Types are the files from which an editor reads the types of packages.
type Types struct {
	Installed bool              `json:"installed" doc:"false if the packages are not installed yet. Then there are no files."`
	Complete  bool              `json:"complete" doc:"false if files were omitted because of the size limit."`
	Digest    string            `json:"digest,omitempty" doc:"Digest of the lock."`
	Files     map[string]string `json:"files" doc:"Declarations of npm packages, or stubs and sources of Python packages, by path."`
}

// TypesOf returns the types of the packages of a lock. Packages that the program names come first.
func (s *Service) TypesOf(workspace string, lock runtimes.Lock, named packages.Declaration) (Types, error) {
	names := make([]string, 0, len(named.Requirements))
	for _, r := range named.Requirements {
		names = append(names, r.Name)
	}
	files, installed, complete, err := s.Manager.Declarations(workspace, lock, names)
	return Types{Installed: installed, Complete: complete, Digest: lock.Digest(), Files: files}, err
}

// ProvideTypes installs the packages of a program and returns their types.
func (s *Service) ProvideTypes(ctx context.Context, workspace string, spec registry.Spec) (Types, error) {
	named, err := Declared(spec)
	if err != nil {
		return Types{}, err
	}
	var lock runtimes.Lock
	if spec.Lock != nil {
		lock = *spec.Lock
	} else if lock, err = s.Lock(ctx, workspace, "", spec, func(Step) {}); err != nil {
		return Types{}, err
	}
	_, release, err := s.Install(ctx, workspace, lock, func(Step) {})
	if err != nil {
		return Types{}, err
	}
	defer release()
	return s.TypesOf(workspace, lock, named)
}
