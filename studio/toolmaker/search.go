package toolmaker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

const (
	mostWords  = 24 // maximum number of words of a task that are searched
	perWord    = 100
	mostChosen = 20 // maximum number of candidates whose schemas are read
	mostMeant  = 50 // maximum number of candidates whose schemas are read if meanings are compared
	leastWord  = 3  // minimum number of letters of a word that is searched
	// fits is the minimum share of the task's words that a tool must contain.
	fits = 0.6
)

// common contains words that do not help to find a tool.
var common = wordSet("the and for from with that this into each all any are was its not but you your which when then than have has make made does get give given take using use used should must will can " +
	"please need want write tool program function agent code input output return value values result results")

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// wordsOf returns the stems of the words of a text. It omits common words and duplicates.
func wordsOf(text string) []string {
	var found []string
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(word) < leastWord || common[word] {
			continue
		}
		if word = stem(word); !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found
}

// stem removes an English ending, so that "counts" and "counting" have the same stem.
func stem(word string) string {
	for _, ending := range []string{"ing", "ies", "ed", "es", "s", "e", "y"} {
		if short, ok := strings.CutSuffix(word, ending); ok && len(short) >= leastWord {
			return short
		}
	}
	return word
}

// candidate is an agent that may fit a task.
type candidate struct {
	registry.Agent
	hits []string // words of the task that occur in the agent's name, title, description or tags
}

// candidates searches a list of agents for every word of a task, and returns the best agents first. If meanings are
// compared, the most recently changed agents are candidates too, even if they contain no word of the task.
func candidates(words []string, meant bool, look func(registry.AgentFilter) (registry.AgentPage, error)) ([]candidate, error) {
	found, most := map[string]*candidate{}, mostChosen
	if meant {
		page, err := look(registry.AgentFilter{Order: "updated", Limit: mostMeant})
		if err != nil {
			return nil, err
		}
		for _, a := range page.Items {
			found[a.ID] = &candidate{Agent: a}
		}
		most = mostMeant
	}
	for _, word := range words {
		page, err := look(registry.AgentFilter{Query: word, Limit: perWord})
		if err != nil {
			return nil, err
		}
		for _, a := range page.Items {
			c := found[a.ID]
			if c == nil {
				c = &candidate{Agent: a}
				found[a.ID] = c
			}
			if slices.Contains(wordsOf(strings.Join(append([]string{a.Name, a.Title, a.Description}, a.Tags...), " ")), word) {
				c.hits = append(c.hits, word)
			}
		}
	}
	all := make([]candidate, 0, len(found))
	for _, c := range found {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(len(b.hits), len(a.hits)), cmp.Compare(b.UsageCount, a.UsageCount), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return all[:min(len(all), most)], nil
}

// match is a tool that fits, with the share of the task's words that it contains.
type match struct {
	tool  Tool
	share float64
}

// better returns the match with the greater share. If the shares are equal, it returns a.
func better(a, b *match) *match {
	if a == nil || b != nil && b.share > a.share {
		return b
	}
	return a
}

// wanted is a task with its words and an example of its input, or nil if there is no example.
type wanted struct {
	task    string
	words   []string
	example json.RawMessage
}

// option is a candidate with its schemas.
type option struct {
	candidate

	tool Tool
}

// compare returns the match of an option, or nil if the option does not fit. likeness is the similarity of meaning
// between the task and the option, or 0 if meanings were not compared.
func (s *Service) compare(w wanted, o option, likeness float64) *match {
	hits := slices.Clone(o.hits)
	for _, word := range wordsOf(strings.Join(properties(o.tool.InputSchema, o.tool.OutputSchema), " ")) {
		if slices.Contains(w.words, word) && !slices.Contains(hits, word) {
			hits = append(hits, word)
		}
	}
	m := match{o.tool, float64(len(hits)) / float64(len(w.words))}
	m.tool.Reason = fmt.Sprintf("Name, description and schema contain %d of %d words of the task: %s.", len(hits), len(w.words), strings.Join(hits, ", "))
	if likeness > 0 && likeness >= s.Likeness && (m.share < fits || likeness > m.share) {
		m.share = likeness
		m.tool.Reason = fmt.Sprintf("Name, description and schema are similar to the task by the model %s: similarity %.2f.", s.Meaning.Embedding(), likeness)
	} else if m.share < fits {
		return nil
	}
	if len(w.example) > 0 {
		if details, err := s.Validator.Validate(o.tool.InputSchema, w.example); err != nil || len(details) > 0 {
			return nil
		}
		m.tool.Reason += " The example matches the input schema."
	}
	m.tool.AgentID, m.tool.Name = o.ID, o.Name
	return &m
}

// published returns the published tool that fits best, or nil if none fits. It prefers tools of the caller's workspace.
func (s *Service) published(ctx context.Context, actor registry.Actor, w wanted) (*Tool, error) {
	meant := s.meant(ctx, actor.Workspace)
	own, err := candidates(w.words, meant, func(f registry.AgentFilter) (registry.AgentPage, error) {
		f.State = "published"
		return s.Agents.List(ctx, actor, f)
	})
	if err != nil {
		return nil, err
	}
	options, err := optionsOf(own, func(c candidate) (registry.Version, error) {
		return s.Versions.Resolve(ctx, actor.Workspace, registry.Reference{Agent: c.ID, Version: registry.Latest})
	})
	if err != nil {
		return nil, err
	}
	others, err := candidates(w.words, meant, func(f registry.AgentFilter) (registry.AgentPage, error) { return s.Catalog.Browse(ctx, f) })
	if err != nil {
		return nil, err
	}
	others = slices.DeleteFunc(others, func(c candidate) bool { return c.Workspace == actor.Workspace })
	listed, err := optionsOf(others, func(c candidate) (registry.Version, error) {
		return s.Catalog.Version(ctx, c.Publisher, c.Name, registry.Latest)
	})
	if err != nil {
		return nil, err
	}
	options = append(options, listed...)
	var likenesses []float64
	if meant {
		likenesses = s.likenesses(ctx, actor.Workspace, w.task, options)
	}
	return s.best(w, options, likenesses), nil
}

// best returns the tool of the option that fits best, or nil if none fits. likenesses contains the similarity of each
// option. It is nil if meanings were not compared.
func (s *Service) best(w wanted, options []option, likenesses []float64) *Tool {
	var best *match
	for i, o := range options {
		likeness := 0.0
		if likenesses != nil {
			likeness = likenesses[i]
		}
		best = better(best, s.compare(w, o, likeness))
	}
	if best == nil {
		return nil
	}
	return &best.tool
}

// optionsOf returns the candidates with their latest versions. It omits deprecated versions.
func optionsOf(among []candidate, version func(candidate) (registry.Version, error)) ([]option, error) {
	var options []option
	for _, c := range among {
		v, err := version(c)
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.NoVersion) { // The agent has only pre-releases, or was deleted in the meantime.
			continue
		}
		if err != nil {
			return nil, err
		}
		if v.Deprecated {
			continue
		}
		options = append(options, option{c, Tool{
			Outcome: Found, Publisher: c.Publisher, Version: v.Version, Title: v.Title, Description: v.Description, Language: v.Language, InputSchema: v.InputSchema, OutputSchema: v.OutputSchema,
		}})
	}
	return options, nil
}

// drafts returns an unpublished draft that was made earlier for the same task, or nil if there is none. Without this
// search, each repeated request would make another draft.
func (s *Service) drafts(ctx context.Context, actor registry.Actor, w wanted) (*Tool, error) {
	made, err := candidates(w.words, false, func(f registry.AgentFilter) (registry.AgentPage, error) {
		f.State, f.Tag = "draft", madeTag
		return s.Agents.List(ctx, actor, f)
	})
	if err != nil {
		return nil, err
	}
	var options []option
	for _, c := range made {
		a, err := s.Agents.Get(ctx, actor, c.ID)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		options = append(options, option{c, Tool{
			Outcome: Waiting, Title: a.Title, Description: a.Description, Language: a.Draft.Language, InputSchema: a.Draft.InputSchema, OutputSchema: a.Draft.OutputSchema,
		}})
	}
	return s.best(w, options, nil), nil
}

// properties returns the names and descriptions of the properties of schemas.
func properties(schemas ...json.RawMessage) []string {
	var texts []string
	for _, schema := range schemas {
		var described struct {
			Properties map[string]struct {
				Description string `json:"description"`
			} `json:"properties"`
		}
		_ = json.Unmarshal(schema, &described) // A schema that does not have the expected form describes no properties.
		for _, name := range slices.Sorted(maps.Keys(described.Properties)) {
			texts = append(texts, name, described.Properties[name].Description)
		}
	}
	return texts
}
