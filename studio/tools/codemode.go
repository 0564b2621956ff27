package tools

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// These are the scores of a search word, by the field of the tool in which the word occurs.
const (
	inName        = 8
	inTitle       = 4
	inDescription = 2
	inSchema      = 1
)

// Found is the result of a search.
type Found struct {
	Tools []manifest.Tool // tools that match, best match first
	Total int             // number of all matching tools, including those beyond the limit
}

// Search returns the tools of a selection that match the words of a query, best match first. Without words it returns
// all tools by name.
func (s *Service) Search(ctx context.Context, caller registry.Caller, selection Selection, query string, limit int) (Found, error) {
	versions, err := s.Select(ctx, caller, selection)
	if err != nil {
		return Found{}, err
	}
	type match struct {
		tool  manifest.Tool
		score int
	}
	terms := words(query)
	var matches []match
	for _, v := range versions {
		tool := manifest.ToolOf(v)
		if score := rank(tool, terms); score > 0 || len(terms) == 0 {
			matches = append(matches, match{tool, score})
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.tool.Name, b.tool.Name))
	})
	found := Found{Total: len(matches)}
	for _, m := range matches[:min(limit, len(matches))] {
		found.Tools = append(found.Tools, m.tool)
	}
	return found, nil
}

var word = regexp.MustCompile(`[\p{L}\p{N}]+`)

// words returns the words of a text in lower case.
func words(text string) []string { return word.FindAllString(strings.ToLower(text), -1) }

// rank returns the score of a tool for the terms of a query. A term also matches the beginning of a longer word.
func rank(tool manifest.Tool, terms []string) (score int) {
	places := []struct {
		words  []string
		weight int
	}{
		{words(strings.ReplaceAll(tool.Name, "_", "-")), inName}, {words(tool.Title), inTitle},
		{words(tool.Description), inDescription}, {words(string(tool.Input)), inSchema},
	}
	for _, term := range terms {
		for _, place := range places {
			switch {
			case slices.Contains(place.words, term):
				score += 2 * place.weight
			case slices.ContainsFunc(place.words, func(w string) bool { return strings.HasPrefix(w, term) }):
				score += place.weight
			}
		}
	}
	return score
}

var name = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_-]*`)

// Program returns a program that may call those tools of a selection whose names occur in its text. It calls the
// selected versions. The text is searched but not parsed: a name that is not a call only grants a tool that the caller
// may run anyway.
func (s *Service) Program(ctx context.Context, caller registry.Caller, selection Selection, language runtimes.Language, code string) (registry.Spec, error) {
	versions, err := s.Select(ctx, caller, selection)
	if err != nil {
		return registry.Spec{}, err
	}
	mentioned := map[string]bool{}
	for _, text := range name.FindAllString(code, -1) {
		for part := range strings.SplitSeq(text, "-") {
			mentioned[strings.TrimSuffix(part, "_")], mentioned[part] = true, true
		}
		mentioned[registry.NameKey(text)] = true
	}
	var granted []string
	for _, v := range versions {
		tool := manifest.ToolOf(v)
		if mentioned[registry.NameKey(tool.Name)] {
			granted = append(granted, tool.Reference())
		}
	}
	if len(granted) > specs.MaxTools {
		return registry.Spec{}, fault.Invalid("/code", "mentions %d tools, and a program may call at most %d; split it.", len(granted), specs.MaxTools)
	}
	entrypoint := specs.Entrypoint(language)
	return registry.Spec{
		Language: language, Entrypoint: entrypoint, Files: map[string]registry.File{entrypoint: registry.File(code)},
		Capabilities: runtimes.Capabilities{Tools: granted},
	}, nil
}
