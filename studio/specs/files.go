package specs

import (
	"regexp"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

var projectName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// CheckProjectName returns the error text for an invalid project name, or "" if the name is valid.
func CheckProjectName(name string) string {
	if !projectName.MatchString(name) {
		return "must begin with a lower-case letter and have at most 63 lower-case letters, digits, - and _."
	}
	return ""
}

// checkProject checks the capability to read the files of a project. The existence of the project is checked only when
// the program runs.
func checkProject(faults *faults, spec registry.Spec) {
	files := spec.Capabilities.Files
	if files == nil {
		return
	}
	if problem := CheckProjectName(files.Project); problem != "" && files.Project != runtimes.AnyProject {
		faults.addf("/capabilities/files/project", "%s * means the project that a task sets.", problem)
	}
	if spec.Language == runtimes.WASM {
		faults.addf("/capabilities/files", "must be absent, because a WebAssembly module cannot call host functions of files.")
	}
}
