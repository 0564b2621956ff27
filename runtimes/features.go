package runtimes

// Feature is a part of a version that not every runtime has.
type Feature string

// Features of runtimes. A version that needs one is refused for a runtime without it.
const (
	FilesFeature      Feature = "files"      // files in addition to the entry file
	PackagesFeature   Feature = "packages"   // packages of a registry
	HostsFeature      Feature = "hosts"      // requests to granted hosts
	SubprocessFeature Feature = "subprocess" // other programs
	ToolsFeature      Feature = "tools"      // calls of other agents
	ProjectsFeature   Feature = "projects"   // files of a project
	RulesFeature      Feature = "rules"      // rules for the use of the language
	StrictFeature     Feature = "strict"     // isolation: strict
	GPUFeature        Feature = "gpu"        // a GPU, for a call that asks for one
)

// Features returns all features.
func Features() []Feature {
	return []Feature{FilesFeature, PackagesFeature, HostsFeature, SubprocessFeature, ToolsFeature, ProjectsFeature, RulesFeature, StrictFeature, GPUFeature}
}
