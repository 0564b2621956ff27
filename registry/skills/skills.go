// Package skills reads skills from folders and archives and converts them to registry types. skill.yaml describes the
// skill, schema.json describes its input and output, and the handler is a program in a supported language.
//
// All input is untrusted: its size is limited, links are not followed, and code is not parsed. The package does not use
// the store and runs no programs. It only generates the file that calls the handler's function.
package skills

import (
	"encoding/json"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// These two files of a skill's folder do not belong to the program.
const (
	SettingsFile = "skill.yaml"
	SchemaFile   = "schema.json"
)

// These constants limit a folder and the unpacked content of an archive.
const (
	MaxFiles    = 500
	MaxBytes    = 4 << 20  // total bytes of all files
	MaxSettings = 64 << 10 // bytes of skill.yaml
	MaxSchema   = 1 << 20  // bytes of schema.json
)

// Skill is a skill whose folder was read completely and is consistent. Other packages check whether its code parses and
// its schemas compile.
type Skill struct {
	Settings Settings
	Spec     registry.Spec // missing fields are zero; no defaults are filled in
	Warnings []fault.Detail

	file     string         // path of the handler's file
	function string         // "" if the handler is a whole program
	settings map[string]int // lines of skill.yaml by pointer
	schemas  map[string]int // lines of schema.json by pointer
}

// Handler returns the handler's file and the function that this file must define. The function is "" if the handler is
// a whole program.
func (s Skill) Handler() (file, function string) { return s.file, s.function }

// Parse converts the files of a folder to a skill. Error: InvalidInput with all problems, each with file and line.
func Parse(files map[string]registry.File) (Skill, error) {
	var s Skill
	all := &faults{}
	if files = fromManifest(files, all); len(all.details) > 0 {
		return s, all.err()
	}
	text, ok := files[SettingsFile]
	if !ok {
		all.addf(SettingsFile, 0, "is missing; it must contain the name, version and handler of the skill.")
		return s, all.err()
	}
	s.readSettings(text, all)
	s.readSchemas(files, all)
	if len(all.details) == 0 {
		s.readProgram(files, all)
	}
	return s, all.err()
}

// readSchemas reads the two schemas of schema.json: {"input": …, "output": …}.
func (s *Skill) readSchemas(files map[string]registry.File, all *faults) {
	text, ok := files[SchemaFile]
	switch {
	case !ok:
		all.addf(SchemaFile, 0, `is missing; it must be {"input": …, "output": …} with two JSON Schemas.`)
		return
	case len(text) > MaxSchema:
		all.addf(SchemaFile, 0, "must have at most %s.", bytesize.Text(MaxSchema))
		return
	}
	if err := jcs.Check(text, jcs.Limits{Depth: maxDepth, Bytes: MaxSchema}); err != nil {
		all.add(notJSON(text, err))
		return
	}
	s.schemas = linesOf(text)
	var both map[string]json.RawMessage
	if err := json.Unmarshal(text, &both); err != nil {
		all.addf(SchemaFile, 1, `must be an object with the members input and output.`)
		return
	}
	s.Spec.InputSchema, s.Spec.OutputSchema = dialect(both["input"]), dialect(both["output"])
	for _, member := range []string{"input", "output"} {
		if len(both[member]) == 0 || string(both[member]) == "null" {
			all.addf(SchemaFile, 1, "must have the member %s, at least {\"type\": \"object\"}.", member)
		}
	}
}

// draft7 is the default dialect of a skill's schemas.
const draft7 = "http://json-schema.org/draft-07/schema#"

// dialect adds the default dialect to a schema that names no dialect. It inserts $schema at the beginning and changes
// nothing else.
func dialect(schema json.RawMessage) json.RawMessage {
	var named map[string]json.RawMessage
	if json.Unmarshal(schema, &named) != nil || named == nil || named["$schema"] != nil {
		return schema // the schema is not an object; compiling it later reports the problem
	}
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(schema)), "{"))
	if rest != "}" {
		rest = "," + rest
	}
	return json.RawMessage(`{"$schema":"` + draft7 + `"` + rest)
}

// readProgram determines the language, the entrypoint and the files of the program. It starts from the handler that
// skill.yaml names.
func (s *Skill) readProgram(files map[string]registry.File, all *faults) {
	line := s.settings["/handler"]
	module, function := s.Settings.Handler, ""
	if at := strings.LastIndexByte(module, '.'); at >= 0 {
		module, function = module[:at], module[at+1:]
	}
	var found []string
	for _, l := range languages() {
		name := strings.ReplaceAll(module, ".", "/") + l.suffix
		if _, ok := files[name]; ok {
			found = append(found, name)
			s.file, s.function, s.Spec.Language = name, function, l.language
		}
	}
	switch {
	case len(found) == 0:
		all.addf(SettingsFile, line, "has the handler %s, but the folder has no %s.py, .js, .ts or .sh.", s.Settings.Handler, strings.ReplaceAll(module, ".", "/"))
		return
	case len(found) > 1:
		all.addf(SettingsFile, line, "has the handler %s, which matches %s; keep one of them.", s.Settings.Handler, strings.Join(found, " or "))
		return
	}
	s.Spec.Files = map[string]registry.File{}
	for name, content := range files {
		if belongs(name) {
			s.Spec.Files[name] = content
		}
	}
	s.Spec.Entrypoint = s.file
	if function == "" {
		return
	}
	entry := entryFile(s.Spec.Language)
	if _, taken := files[entry]; taken {
		all.addf(entry, 0, "is reserved for the file that calls the handler; choose another name.")
		return
	}
	s.Spec.Files[entry], s.Spec.Entrypoint = caller(s.Spec.Language, s.file, function), entry
}

// belongs reports whether a file is part of the program. Documentation and tests of a skill are not part of the
// program.
func belongs(name string) bool {
	switch {
	case name == SettingsFile || name == SchemaFile || name == ManifestFile || strings.HasPrefix(name, "tests/"):
		return false
	case !strings.Contains(name, "/") && strings.HasSuffix(strings.ToLower(name), ".md"):
		return false
	}
	return true
}

type language struct {
	language runtimes.Language
	suffix   string
}

func languages() []language {
	return []language{{runtimes.Python, ".py"}, {runtimes.JavaScript, ".js"}, {runtimes.TypeScript, ".ts"}, {runtimes.Bash, ".sh"}}
}
