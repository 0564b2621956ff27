package packages

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/atelier-run/atelier/internal/bytesize"
)

// hashOption matches the only option that a requirement may have. This option is harmless, because it can only restrict
// the allowed archives.
var hashOption = regexp.MustCompile(`^--hash[= ]sha256:([0-9a-f]{64})$`)

// maxLogicalLine is the maximum size in bytes of a line of a requirements.txt together with its continuation lines.
const maxLogicalLine = 16 << 10

// readRequirements reads a requirements.txt with one requirement per line. It supports comments, conditions, hashes and
// lines that continue after a backslash. It refuses other options, because they refer to other indexes and files.
func readRequirements(text string) ([]entry, error) {
	var all []entry
	lines := strings.Split(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff"), "\n")
	for i := 0; i < len(lines); i++ {
		first := i
		part := withoutComment(lines[i])
		var joined strings.Builder
		for strings.HasSuffix(part, `\`) && i+1 < len(lines) && joined.Len() <= maxLogicalLine {
			i++
			joined.WriteString(strings.TrimSuffix(part, `\`) + " ")
			part = withoutComment(lines[i])
		}
		joined.WriteString(part)
		line := strings.TrimSpace(joined.String())
		if len(line) > maxLogicalLine {
			return nil, refusedAt(RequirementsFile, first+1, fmt.Sprintf("must have at most %s with the lines that continue it; remove hashes of files for other platforms.", bytesize.Text(maxLogicalLine)))
		}
		if line == "" {
			continue
		}
		if strings.HasPrefix(line, "-") {
			return nil, refusedAt(RequirementsFile, first+1, fmt.Sprintf("has the option %s, which is not supported; use only names with versions.", shorten(strings.Fields(line)[0], 40)))
		}
		e := entry{line: first + 1}
		var options string
		e.text, options, _ = strings.Cut(line, " --")
		for option := range strings.SplitSeq(options, " --") {
			if option = strings.TrimSpace(option); option == "" {
				continue
			}
			match := hashOption.FindStringSubmatch("--" + option)
			if match == nil {
				return nil, refusedAt(RequirementsFile, e.line, fmt.Sprintf("has the option --%s, which is not supported; the only supported option is --hash=sha256:….", shorten(option, 40)))
			}
			e.hashes = append(e.hashes, "sha256:"+match[1])
		}
		all = append(all, e)
	}
	return all, nil
}

// withoutComment removes a comment from a line. A comment begins with a # at the start of the line or after a space.
func withoutComment(line string) string {
	for i := range line {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	return strings.TrimRight(line, " \t")
}

// pyproject holds the parts of a pyproject.toml that list packages or change how packages are resolved.
type pyproject struct {
	Project struct {
		Dependencies []string `toml:"dependencies"`
		Dynamic      []string `toml:"dynamic"`
	} `toml:"project"`
	Tool struct {
		UV     map[string]any `toml:"uv"`
		Poetry struct {
			Dependencies map[string]any `toml:"dependencies"`
		} `toml:"poetry"`
	} `toml:"tool"`
}

// maxLevels is the maximum nesting depth of tables, keys and brackets in a pyproject.toml. It is needed because the
// decoder stores the whole path of each level, so its memory grows with the square of the depth.
const maxLevels = 32

// tomlToken matches a string, a comment, or a character that changes the level. A string without an end extends to the
// end of its line or of the file. So no part of a file is searched twice.
var tomlToken = regexp.MustCompile(`(?s)"""(?:\\.|[^\\])*?(?:"{3,5}|\\?\z)|'''.*?(?:'{3,5}|\z)|"(?:\\[^\r\n]|[^"\\\r\n])*"?|'[^'\r\n]*'?|#[^\r\n]*|[][{}.,=\n]`)

// tooDeep returns the first line of a TOML file with more than maxLevels levels, or 0 if there is none. Each part of a
// table's name, each part of a key and each open bracket is a level.
func tooDeep(text string) int {
	line, level, table := 1, 0, 0
	// Whether the next token is the first of its line, and whether the line is the header of a table.
	first, header := true, false
	var open []int // stack: the level before each open bracket
	for {
		next := tomlToken.FindStringIndex(text)
		if next == nil {
			return 0
		}
		token := text[next[0]:next[1]]
		text = text[next[1]:]
		switch token {
		case "\n":
			if len(open) == 0 {
				first, header, level = true, false, table
			}
			line++
			continue
		case "[", "{":
			if first && len(open) == 0 {
				header, level = true, 0
			}
			open = append(open, level)
			level++
		case ".":
			level++
		case ",":
			if len(open) > 0 {
				level = open[len(open)-1] + 1
			}
		case "]", "}":
			if header {
				table, header = level, false
			}
			if len(open) > 0 {
				level, open = open[len(open)-1], open[:len(open)-1]
			}
		}
		if level > maxLevels {
			return line
		}
		first = false
		line += strings.Count(token, "\n")
	}
}

// uvSettings are the settings of uv that change how a list of packages is resolved.
var uvSettings = []string{
	"sources", "index", "index-url", "extra-index-url", "find-links", "no-index", "index-strategy", "constraint-dependencies", "override-dependencies", "exclude-dependencies",
	"prerelease", "resolution", "exclude-newer", "workspace", "environments", "required-environments", "dependency-metadata",
}

// readPyproject reads the dependencies of a pyproject.toml. Optional dependencies and dependency groups are not installed.
func readPyproject(text string) ([]entry, error) {
	if line := tooDeep(text); line > 0 {
		return nil, refusedAt(PyprojectFile, line, fmt.Sprintf("must have at most %d levels of tables, keys and brackets; use shorter keys and fewer brackets.", maxLevels))
	}
	var file pyproject
	if _, err := toml.Decode(text, &file); err != nil {
		line := 1
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			line = syntax.Position.Line
		}
		return nil, refusedAt(PyprojectFile, line, "must be TOML, with a list of strings as project.dependencies: "+shorten(err.Error(), 200)+".")
	}
	for name := range file.Tool.Poetry.Dependencies {
		if name != "python" {
			return nil, refusedAt(PyprojectFile, lineOf(text, "[tool.poetry.dependencies]"), "has dependencies of Poetry, which are not read; move them to dependencies in [project].")
		}
	}
	if slices.Contains(file.Project.Dynamic, "dependencies") {
		return nil, refusedAt(PyprojectFile, lineOf(text, "dynamic"), "must list its dependencies; remove dependencies from dynamic.")
	}
	if len(file.Project.Dependencies) == 0 {
		return nil, nil
	}
	if len(file.Project.Dependencies) > maxLocked {
		return nil, tooMany(PyprojectFile, lineOf(text, "dependencies"))
	}
	for _, setting := range uvSettings {
		if _, ok := file.Tool.UV[setting]; ok {
			return nil, refusedAt(PyprojectFile, lineOf(text, setting), fmt.Sprintf("has tool.uv.%s, which is not supported; remove it.", setting))
		}
	}
	all := make([]entry, 0, len(file.Project.Dependencies))
	for _, one := range file.Project.Dependencies {
		all = append(all, entry{text: one, line: lineOf(text, one)})
	}
	return all, nil
}

var (
	// conditionWord matches one word of a condition (a marker of PEP 508). The strings in a condition cannot contain
	// characters that have a meaning for a resolver.
	conditionWord = regexp.MustCompile(`^\s*(?:'[A-Za-z0-9 ._+!*-]*'|"[A-Za-z0-9 ._+!*-]*"|[a-z_]+|~=|==|!=|<=|>=|<|>|[()])`)
	conditionName = []string{
		"and", "or", "not", "in", "python_version", "python_full_version", "os_name", "sys_platform", "platform_release", "platform_system", "platform_version",
		"platform_machine", "platform_python_implementation", "implementation_name", "implementation_version",
	}
)

// checkCondition returns the reason why a condition is not supported, or "" if it is supported.
func checkCondition(text string) string {
	const form = "has a condition that is not supported; compare names such as python_version and sys_platform with strings in quotes."
	rest := strings.TrimSpace(text)
	if rest == "" {
		return form
	}
	for rest != "" {
		word := conditionWord.FindString(rest)
		if word == "" {
			return form
		}
		rest = strings.TrimSpace(rest[len(word):])
		if word = strings.TrimSpace(word); (word[0] == '_' || word[0] >= 'a' && word[0] <= 'z') && !slices.Contains(conditionName, word) {
			return form
		}
	}
	return ""
}
