package runtimes

// Feature is something that a version may need and that not every runtime supports.
type Feature string

// Features of runtimes. A version cannot use a runtime that lacks a feature it needs.
const (
	FilesFeature      Feature = "files"      // files in addition to the entry file
	PackagesFeature   Feature = "packages"   // packages from PyPI or npm
	HostsFeature      Feature = "hosts"      // requests to granted hosts
	SubprocessFeature Feature = "subprocess" // starting other programs
	ToolsFeature      Feature = "tools"      // calls of other agents
	ProjectsFeature   Feature = "projects"   // files of a project
	RulesFeature      Feature = "rules"      // rules that restrict the use of the language
	StrictFeature     Feature = "strict"     // isolation: strict
	GPUFeature        Feature = "gpu"        // a GPU, for runs that request one
)

// Features returns all features.
func Features() []Feature {
	return []Feature{FilesFeature, PackagesFeature, HostsFeature, SubprocessFeature, ToolsFeature, ProjectsFeature, RulesFeature, StrictFeature, GPUFeature}
}
