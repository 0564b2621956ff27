package registry

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Paths checks the files of one program, path by path in any order. Every entry point uses it, so that a program that
// can be saved can also be exported, imported and stored in a folder on any system. The zero value is ready to use.
type Paths struct {
	files   map[string]string // folded path of a file → its path
	folders map[string]string // folded path of a folder → a file inside it
}

// Add checks a path, alone and with the paths added before. It returns the problem, "" if there is none. Only a path
// without a problem is added.
func (p *Paths) Add(path string) string {
	if problem := checkPath(path); problem != "" {
		return problem
	}
	key := foldPath(path)
	if other, taken := p.files[key]; taken {
		if other == path {
			return "must not be given twice."
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

// CheckPaths returns the problems of a program's paths, in the order of the paths.
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

// foldPath returns the form in which a file system that ignores case and composes accents compares paths.
func foldPath(path string) string { return norm.NFC.String(cases.Fold().String(norm.NFD.String(path))) }

func parentPath(path string) string {
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		return path[:at]
	}
	return ""
}
