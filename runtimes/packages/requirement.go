package packages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Limits of a list of requirements.
const (
	MaxRequirements = 100
	maxRequirement  = 300 // bytes
)

// Requirement is one entry of a list of packages: a name with the allowed versions. Addresses, files and options are
// rejected, because resolvers would follow them.
type Requirement struct {
	Name   string
	Line   int      // line in the file that contains the requirement; 0 if it is not in a file
	Hashes []string // hashes of the allowed archives; if empty, all are allowed
	text   string
}

// String returns the canonical form.
func (r Requirement) String() string { return r.text }

// EcosystemOf returns the ecosystem of a language's packages. The second result is false if the language has no
// packages.
func EcosystemOf(language runtimes.Language) (runtimes.Ecosystem, bool) {
	switch language {
	case runtimes.Python:
		return runtimes.PyPI, true
	case runtimes.JavaScript, runtimes.TypeScript:
		return runtimes.NPM, true
	case runtimes.Bash, runtimes.WASM:
		return "", false
	}
	return "", false
}

// Parse checks a list of requirements and returns it in canonical form, sorted by name. Its errors have the JSON pointer
// of the entry.
func Parse(ecosystem runtimes.Ecosystem, texts []string) ([]Requirement, error) {
	refused := &fault.Error{Code: fault.InvalidInput, Message: "The packages are not valid."}
	if len(texts) > MaxRequirements {
		return nil, fault.Invalid("/packages", "must have at most %d entries.", MaxRequirements)
	}
	var all []Requirement
	seen := map[string]bool{}
	for i, text := range texts {
		one, problem := parse(ecosystem, text)
		if problem == "" && seen[one.Name] {
			problem = fmt.Sprintf("contains %s twice; put all versions into one entry.", one.Name)
		}
		if problem != "" {
			refused.Details = append(refused.Details, fault.Detail{Pointer: fmt.Sprintf("/packages/%d", i), Message: problem})
			continue
		}
		seen[one.Name] = true
		all = append(all, one)
	}
	if len(refused.Details) > 0 {
		return nil, refused
	}
	slices.SortFunc(all, func(a, b Requirement) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func parse(ecosystem runtimes.Ecosystem, text string) (Requirement, string) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Requirement{}, "must not be empty; remove the entry."
	case len(text) > maxRequirement:
		return Requirement{}, fmt.Sprintf("must have at most %d bytes.", maxRequirement)
	case ecosystem == runtimes.NPM:
		return parseNPM(text)
	}
	return parsePython(text)
}

var (
	pythonForm = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[\s*([A-Za-z0-9._-]+(?:\s*,\s*[A-Za-z0-9._-]+)*)\s*\])?\s*(.*)$`)
	// pythonVersion matches one version clause of PEP 440. It excludes the operator ===, because that operator accepts any
	// text.
	pythonVersion = regexp.MustCompile(`^(==|!=|<=|>=|~=|<|>)\s*[0-9][0-9A-Za-z.!+_-]*(\.\*)?$`)
	separators    = regexp.MustCompile(`[-_.]+`)
)

// parsePython parses a name with extras and versions, a subset of PEP 508. It does not support markers, because all
// runs have the same platform.
func parsePython(text string) (Requirement, string) {
	const form = "must be a name with versions, for example requests==2.32.3 or pydantic>=2,<3"
	if strings.ContainsAny(text, "\r\n\x00#;@/\\'\"`") || strings.HasPrefix(text, "-") {
		return Requirement{}, form + "; addresses, files, options and conditions are not supported."
	}
	parts := pythonForm.FindStringSubmatch(text)
	if parts == nil {
		return Requirement{}, form + "."
	}
	name := strings.ToLower(separators.ReplaceAllString(parts[1], "-"))
	canonical := name
	if parts[2] != "" {
		var extras []string
		for extra := range strings.SplitSeq(parts[2], ",") {
			extras = append(extras, strings.ToLower(separators.ReplaceAllString(strings.TrimSpace(extra), "-")))
		}
		slices.Sort(extras)
		canonical += "[" + strings.Join(slices.Compact(extras), ",") + "]"
	}
	versions := strings.TrimSpace(parts[3])
	if inner, ok := strings.CutPrefix(versions, "("); ok {
		versions = strings.TrimSpace(strings.TrimSuffix(inner, ")"))
	}
	if versions == "" {
		return Requirement{Name: name, text: canonical}, ""
	}
	var clauses []string
	for clause := range strings.SplitSeq(versions, ",") {
		clause = strings.TrimSpace(clause)
		if !pythonVersion.MatchString(clause) {
			return Requirement{}, form + "."
		}
		clauses = append(clauses, strings.ReplaceAll(clause, " ", ""))
	}
	slices.Sort(clauses)
	return Requirement{Name: name, text: canonical + strings.Join(slices.Compact(clauses), ",")}, ""
}

var (
	npmName = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*$`)
	// npmRange is a semver range. latest is the only tag that is allowed, because a tag can move to another version.
	npmRange = regexp.MustCompile(`^(?:latest|\*|[ |0-9A-Za-z.+*^~<>=-]*[0-9xX*][ |0-9A-Za-z.+*^~<>=-]*)$`)
	npmWord  = regexp.MustCompile(`^(?:[<>=^~]*v?[0-9xX*]+(?:\.[0-9xX*]+)*(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?|\|\||-|[<>=^~]+|latest)$`)
)

// parseNPM parses name@range.
func parseNPM(text string) (Requirement, string) {
	const form = "must be a name with a range of versions, for example zod@^4 or @scope/name@1.2.3"
	at := strings.LastIndexByte(text, '@')
	name, versions := text, "*"
	if at > 0 {
		name, versions = text[:at], strings.TrimSpace(text[at+1:])
	}
	if len(name) > 214 || !npmName.MatchString(name) {
		return Requirement{}, form + "; addresses, files, links and aliases are not supported."
	}
	if name == "node_modules" {
		return Requirement{}, "must not be node_modules."
	}
	if versions == "" || !npmRange.MatchString(versions) {
		return Requirement{}, form + "; addresses, files, links and aliases are not supported."
	}
	for word := range strings.FieldsSeq(versions) {
		if !npmWord.MatchString(word) {
			return Requirement{}, form + "; addresses, files, links and aliases are not supported."
		}
	}
	return Requirement{Name: name, text: name + "@" + strings.Join(strings.Fields(versions), " ")}, ""
}

// Range returns the range of versions of an npm requirement.
func (r Requirement) Range() string { return strings.TrimPrefix(r.text, r.Name+"@") }

// Texts returns the canonical forms.
func Texts(all []Requirement) []string {
	texts := make([]string, 0, len(all))
	for _, one := range all {
		texts = append(texts, one.text)
	}
	return texts
}
