package policy

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

var word = regexp.MustCompile(`[a-z0-9_.]{3,}`)

// maxFitting is the maximum number of rules that Fitting returns.
const maxFitting = 20

// Fitting returns the rules of a workspace that best match a description, best match first. If no rule contains a word
// of the description, it returns the rules of critical severity.
func (s *Service) Fitting(ctx context.Context, actor registry.Actor, text string) ([]Rule, error) {
	w, err := s.of(ctx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	wanted := word.FindAllString(strings.ToLower(text), -1)
	type ranked struct {
		rule Rule
		hits int
	}
	var all []ranked
	for _, name := range append(slices.Clone(w.settings.Packs), Restricted) {
		p, _ := s.pack(w, name)
		for _, r := range p.Rules {
			if slices.Contains(w.settings.DisabledRules, name+"/"+r.ID) {
				continue
			}
			r.ID = name + "/" + r.ID
			all = append(all, ranked{r, hits(r, wanted)})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return b.hits - a.hits })
	var rules []Rule
	for _, one := range all {
		if (one.hits > 0 || one.rule.Severity == registry.Critical && (len(rules) == 0 || all[0].hits == 0)) && len(rules) < maxFitting {
			rules = append(rules, one.rule)
		}
	}
	return rules, nil
}

// hits counts the words of a description that occur in a rule.
func hits(r Rule, wanted []string) int {
	text := strings.ToLower(r.Title + " " + r.Remedy + " " + strings.Join(r.Match.Name, " "))
	for _, l := range r.Language {
		text += " " + string(l)
	}
	count := 0
	for _, one := range wanted {
		if strings.Contains(text, one) {
			count++
		}
	}
	return count
}
