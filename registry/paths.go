package registry

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Paths checks the file paths of one program. The paths may come in any order. Every API checks paths with this type.
// So a program that can be saved can also be exported, imported and stored in a folder on every operating system. The
// zero value is ready to use.
type Paths struct {
	files   map[string]string // maps the folded path of a file to its path
	folders map[string]string // maps the folded path of a folder to the path of a file in the folder
}

// Add checks whether a path is valid and fits the paths that were added before. It returns the problem, or "" if there
// is none. It does not add a path that has a problem.
func (p *Paths) Add(path string) string {
	if problem := checkPath(path); problem != "" {
		return problem
	}
	key := foldPath(path)
	if other, taken := p.files[key]; taken {
		if other == path {
			return "must occur only once."
		}
		return "must not differ from " + other + " only in case or Unicode form, because some file systems cannot keep both; rename one of them."
	}
	if inside, taken := p.folders[key]; taken {
		return "must not also be a folder; " + inside + " is inside it."
	}
	for folder := parentPath(key); folder != ""; folder = parentPath(folder) {
		if other, taken := p.files[folder]; taken {
			return "must not be inside " + other + ", which is a file."
		}
	}
	if p.files == nil {
		p.files, p.folders = map[string]string{}, map[string]string{}
	}
	p.files[key] = path
	for folder := parentPath(key); folder != ""; folder = parentPath(folder) {
		p.folders[folder] = path
	}
	return ""
}

// PathProblem is an invalid path of a program, with the reason.
type PathProblem struct{ Path, Problem string }

// CheckPaths returns the problems of a program's paths, sorted by path.
func CheckPaths(files map[string]File) []PathProblem {
	var paths Paths
	var problems []PathProblem
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if problem := paths.Add(path); problem != "" {
			problems = append(problems, PathProblem{path, problem})
		}
	}
	return problems
}

// foldPath returns the form in which two paths are equal if a file system cannot distinguish them: it ignores case and
// composes accents.
func foldPath(path string) string { return norm.NFC.String(cases.Fold().String(norm.NFD.String(path))) }

func parentPath(path string) string {
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		return path[:at]
	}
	return ""
}
