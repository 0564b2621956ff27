package advice

import (
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// ofFiles returns the reasons that follow from the differences between the project files that the two versions may read
// or change.
func ofFiles(before, after *runtimes.Files) []registry.Reason {
	const pointer = "/capabilities/files"
	var was, is runtimes.Files
	if before != nil {
		was = *before
	}
	if after != nil {
		is = *after
	}
	switch {
	case was == is:
		return nil
	case after == nil:
		return []registry.Reason{reason(registry.PatchBump, pointer, "the files of a project are no longer requested")}
	case was.Project != is.Project:
		return []registry.Reason{reason(registry.MajorBump, pointer, "the files of the project `"+is.Project+"` are a new capability")}
	case is.Write:
		return []registry.Reason{reason(registry.MajorBump, pointer, "proposing changes of files is a new capability")}
	}
	return []registry.Reason{reason(registry.PatchBump, pointer, "proposing changes of files is no longer requested")}
}
