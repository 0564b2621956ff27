package skills_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type compaction struct {
	Artifacts      []map[string]any `json:"compacted_artifacts"`
	Original       int              `json:"original_count"`
	Compacted      int              `json:"compacted_count"`
	OriginalTokens int              `json:"original_tokens_estimate"`
	Tokens         int              `json:"compacted_tokens_estimate"`
	Ratio          float64          `json:"compression_ratio"`
	Strategy       string           `json:"strategy_used"`
	Preserved      []string         `json:"preserved_artifact_ids"`
}

func strategies() []string { return []string{"summarize", "truncate", "merge", "intelligent"} }

// tokens are a quarter of the characters of the JSON that Python writes.
func tokens(t *testing.T, value any) int {
	t.Helper()
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	n, inString, escaped := 0, false, false
	for _, c := range strings.TrimSpace(text.String()) {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == ':'):
			n++ // Python puts a space after it
		}
		switch {
		case c > 0xFFFF:
			n += 12
		case c > 0x7E:
			n += 6
		default:
			n++
		}
	}
	return n / 4
}

// artifacts makes some, of all shapes.
func artifacts(dice *rand.Rand, count int) []map[string]any {
	words := strings.Fields("alpha beta release server payment 42 user error decided ñandú 😂 budget \"q\" done. Then the team agreed.")
	text := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = words[dice.IntN(len(words))]
		}
		return strings.Join(all, " ")
	}
	var made []map[string]any
	for i := range count {
		content := map[string]any{"text": text(dice.IntN(250)), "n": i, "tags": []any{text(2), text(3)}, "deep": map[string]any{"a": []any{map[string]any{"b": text(30)}}}}
		a := map[string]any{"id": fmt.Sprintf("a%d", i), "type": []string{"fact", "event", "decision"}[dice.IntN(3)], "content": content}
		if dice.IntN(3) > 0 {
			a["created_at"] = fmt.Sprintf("2024-%02d-11T10:00:00Z", 1+dice.IntN(12))
		}
		if dice.IntN(4) == 0 {
			a["provenance_refs"], content["provenance_refs"] = []any{"run-1", "run-2"}, []any{"x"}
		}
		made = append(made, a)
	}
	return made
}

// TestBudgetIsKept: whatever comes in, no strategy goes over the budget, and of an artifact that stays every preserved field
// stays as it was.
func TestBudgetIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dice := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{1, 7, 60} {
		made := artifacts(dice, count)
		byID := map[string]map[string]any{}
		for _, a := range made {
			byID[fmt.Sprint(a["id"])] = a
		}
		for _, strategy := range strategies() {
			for _, most := range []int{100, 700, 8000} {
				var c compaction
				b.run(t, "compact_memory", map[string]any{"artifacts": made, "strategy": strategy, "max_tokens": most}, &c)
				if c.Tokens > most || c.Tokens != tokens(t, c.Artifacts) || c.OriginalTokens != tokens(t, made) || c.Original != count || c.Compacted != len(c.Artifacts) || c.Strategy != strategy {
					t.Errorf("%s, %d tokens: %+v (%d)", strategy, most, c, tokens(t, c.Artifacts))
				}
				for _, a := range c.Artifacts {
					id := fmt.Sprint(a["id"])
					if !slices.Contains(c.Preserved, id) {
						t.Errorf("%s is not said to be preserved", id)
					}
					if _, merged := a["merged_count"]; !merged {
						same(t, strategy, byID[id], a)
					}
				}
			}
		}
	}
}

func same(t *testing.T, strategy string, before, after map[string]any) {
	t.Helper()
	for _, field := range []string{"id", "type", "created_at", "provenance_refs"} {
		if diff := cmp.Diff(before[field], after[field]); diff != "" {
			t.Errorf("%s: %s: %s", strategy, field, diff)
		}
	}
	was, okWas := before["content"].(map[string]any)
	is, okIs := after["content"].(map[string]any)
	if !okWas || !okIs {
		t.Fatalf("%s: no content: %v", strategy, after)
	}
	if diff := cmp.Diff(was["provenance_refs"], is["provenance_refs"]); diff != "" {
		t.Errorf("%s: references: %s", strategy, diff)
	}
}

// TestWhatFitsStays: nothing is touched that is within the budget.
func TestWhatFitsStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := []map[string]any{{"id": "1", "type": "t", "content": map[string]any{"x": "y"}, "more": true}}
	for _, strategy := range strategies() {
		var c compaction
		b.run(t, "compact_memory", map[string]any{"artifacts": made, "strategy": strategy}, &c)
		if diff := cmp.Diff(made, c.Artifacts); diff != "" || c.Ratio != 1 {
			t.Errorf("%s: %v %s", strategy, c.Ratio, diff)
		}
	}
}

// TestStrategiesDiffer: each does what its name says.
func TestStrategiesDiffer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	note := func(id, kind, text, day string) map[string]any {
		return map[string]any{"id": id, "type": kind, "created_at": "2024-01-" + day + "T00:00:00Z", "content": map[string]any{"text": text}}
	}
	filler := strings.Repeat("The team met and talked about the weather for a while. ", 30)
	const gist = "The release was moved to 12 March because 3 tests failed."
	made := []map[string]any{
		note("1", "note", filler+gist, "01"), note("2", "note", filler+"The end.", "02"), note("3", "note", filler+"The end.", "03"), note("4", "decision", "We stay with Go.", "04"),
	}
	run := func(strategy string) compaction {
		var c compaction
		b.run(t, "compact_memory", map[string]any{"artifacts": made, "strategy": strategy, "max_tokens": 400}, &c)
		return c
	}
	text := func(c compaction, i int) string {
		content, ok := c.Artifacts[i]["content"].(map[string]any)
		if !ok {
			t.Fatalf("%v", c.Artifacts)
		}
		return fmt.Sprint(content["text"])
	}
	if c := run("truncate"); len(c.Artifacts) != 4 || !strings.HasPrefix(filler, strings.TrimSuffix(text(c, 0), "…")) || !strings.HasSuffix(text(c, 0), "…") || text(c, 3) != "We stay with Go." {
		t.Errorf("truncate: %v", c.Artifacts)
	}
	if c := run("summarize"); len(c.Artifacts) != 4 || !strings.Contains(text(c, 0), gist) || strings.Count(text(c, 0), "weather") != 1 {
		t.Errorf("summarize: %v", c.Artifacts)
	}
	if c := run("merge"); len(c.Artifacts) != 2 || c.Artifacts[0]["id"] != "3" || !slices.Equal(c.Preserved, []string{"1", "2", "3", "4"}) || !strings.Contains(text(c, 0), gist) {
		t.Errorf("merge: %v", c.Artifacts)
	}
	if c := run("intelligent"); !strings.Contains(text(c, 0), gist) || len(c.Artifacts) != 3 || !slices.Equal(c.Preserved, []string{"1", "2", "3", "4"}) {
		t.Errorf("intelligent: %v", c.Artifacts)
	}
}

// TestCompactHostile: many, deep and long artifacts, and some of which not even what is preserved fits.
func TestCompactHostile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var deep any = "bottom"
	for range 200 {
		deep = []any{deep}
	}
	many := make([]map[string]any, 20_000)
	for i := range many {
		many[i] = map[string]any{"id": "same", "type": "t", "content": map[string]any{"x": "word word"}}
	}
	tests := map[string][]map[string]any{
		"many":         many,
		"long":         {{"id": "1", "type": "t", "content": map[string]any{"x": strings.Repeat("Word word! ", 100_000)}}},
		"deep":         {{"id": "1", "type": "t", "content": map[string]any{"x": deep, "y": strings.Repeat("a", 50_000)}}},
		"a large name": {{"id": strings.Repeat("i", 5000), "type": "t", "content": map[string]any{}}},
		"odd times":    {{"id": "1", "type": "t", "content": map[string]any{"x": strings.Repeat("a", 900)}, "created_at": "yesterday"}, {"id": "2", "type": "t", "content": map[string]any{"x": strings.Repeat("b", 900)}, "created_at": "0001-01-01T00:00:00+23:59"}},
		"controls":     {{"id": "1", "type": "t", "content": map[string]any{"\x00": strings.Repeat("\x01😂", 2000)}}},
	}
	for name, made := range tests {
		for _, strategy := range strategies() {
			var c compaction
			b.run(t, "compact_memory", map[string]any{"artifacts": made, "strategy": strategy, "max_tokens": 100}, &c)
			if c.Tokens > 100 || name == "a large name" && c.Compacted != 0 || name != "a large name" && c.Compacted == 0 {
				t.Errorf("%s, %s: %d artifacts, %d tokens", name, strategy, c.Compacted, c.Tokens)
			}
		}
	}
}
