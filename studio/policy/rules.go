package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// Pack is a set of rules. Its JSON field names are also the field names in YAML.
type Pack struct {
	Name  string `json:"name" jsonschema:"pattern=^[a-z][a-z0-9_-]{0\\,62}$,description=Name of the pack; unique in the workspace."`
	Title string `json:"title,omitempty" jsonschema:"maxLength=200"`
	Rules []Rule `json:"rules" jsonschema:"minItems=1,maxItems=500"`
}

// Rule selects facts about a program and turns each of them into a finding.
type Rule struct {
	ID       string              `json:"id" jsonschema:"pattern=^[a-z][a-z0-9_-]{0\\,62}$,description=Unique in the pack."`
	Title    string              `json:"title" jsonschema:"minLength=1,maxLength=300,description=What is wrong. The sentence that a person reads."`
	Language []runtimes.Language `json:"language,omitempty" jsonschema:"description=Languages that the rule is for. Absent: all."`
	Severity registry.Severity   `json:"severity" jsonschema:"enum=low,enum=medium,enum=high,enum=critical"`
	Weight   *float64            `json:"weight,omitempty" jsonschema:"minimum=0,maximum=1,description=Cost in the score. Absent: that of the severity."`
	Match    Match               `json:"match"`
	Require  bool                `json:"require,omitempty" jsonschema:"description=The program must have such a fact. Absent: it must not."`
	Remedy   string              `json:"remedy" jsonschema:"minLength=1,maxLength=500,description=How to fix it."`
}

// Match selects facts. In every name and value, * matches any text, and a leading ! negates the pattern.
type Match struct {
	Fact    []runtimes.FactKind `json:"fact" jsonschema:"minItems=1,description=Kinds of facts."`
	Name    []string            `json:"name,omitempty" jsonschema:"maxItems=500,description=Names of facts. Absent: all."`
	Except  []string            `json:"except,omitempty" jsonschema:"maxItems=500,description=Names of facts that do not match."`
	With    map[string][]string `json:"with,omitempty" jsonschema:"description=Arguments that a call must have. The key * stands for any argument."`
	Without map[string][]string `json:"without,omitempty" jsonschema:"description=Arguments with which a call does not match."`
}

// rule is a rule with compiled patterns.
type rule struct {
	Rule
	pack          string
	name, except  []glob
	with, without map[string][]glob
}

// glob is a compiled pattern that matches a text.
type glob struct {
	not  bool
	text string // exact text to match if the pattern has no *
	like *regexp.Regexp
}

func (g glob) matches(text string) bool {
	if g.like != nil {
		return g.like.MatchString(text) != g.not
	}
	return g.text == text != g.not
}

func globOf(text string) glob {
	g := glob{}
	text, g.not = strings.CutPrefix(text, "!")
	if !strings.Contains(text, "*") {
		g.text = text
		return g
	}
	parts := strings.Split(text, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	g.like = regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`)
	return g
}

func globsOf(texts []string) []glob {
	all := make([]glob, 0, len(texts))
	for _, text := range texts {
		all = append(all, globOf(text))
	}
	return all
}

func compiled(pack string, r Rule) rule {
	c := rule{Rule: r, pack: pack, name: globsOf(r.Match.Name), except: globsOf(r.Match.Except), with: map[string][]glob{}, without: map[string][]glob{}}
	for key, values := range r.Match.With {
		c.with[key] = globsOf(values)
	}
	for key, values := range r.Match.Without {
		c.without[key] = globsOf(values)
	}
	return c
}

// id returns the identifier of a rule in findings and settings.
func (r rule) id() string { return r.pack + "/" + r.ID }

func (r rule) weight() float64 {
	if r.Weight != nil {
		return *r.Weight
	}
	return weightOf(r.Severity)
}

func weightOf(s registry.Severity) float64 {
	switch s {
	case registry.Low:
		return 0.1
	case registry.Medium:
		return 0.25
	case registry.High:
		return 0.5
	case registry.Critical:
	}
	return 1
}

func (r rule) appliesTo(language runtimes.Language) bool {
	return len(r.Language) == 0 || slices.Contains(r.Language, language)
}

func (r rule) matches(f runtimes.Fact) bool {
	if !slices.Contains(r.Match.Fact, f.Kind) || len(r.name) > 0 && !anyOf(r.name, f.Name) || anyOf(r.except, f.Name) {
		return false
	}
	for key, wanted := range r.with {
		if !given(f, key, wanted) {
			return false
		}
	}
	for key, wanted := range r.without {
		if given(f, key, wanted) {
			return false
		}
	}
	return true
}

// given reports whether a call has an argument with one of the values.
func given(f runtimes.Fact, key string, wanted []glob) bool {
	if key != "*" {
		value, is := f.With[key]
		return is && anyOf(wanted, value)
	}
	for _, value := range f.With {
		if anyOf(wanted, value) {
			return true
		}
	}
	return false
}

func anyOf(globs []glob, text string) bool {
	return slices.ContainsFunc(globs, func(g glob) bool { return g.matches(text) })
}
