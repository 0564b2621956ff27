package skills_test

import (
	"strings"
	"testing"
	"unicode/utf8"
)

type summary struct {
	Summary   string  `json:"summary"`
	Original  int     `json:"original_length"`
	Length    int     `json:"summary_length"`
	Ratio     float64 `json:"compression_ratio"`
	Extracted int     `json:"sentences_extracted"`
}

func (b *bench) summarize(t *testing.T, input map[string]any) summary {
	t.Helper()
	var s summary
	b.run(t, "text_summarize", input, &s)
	text, ok := input["text"].(string)
	if !ok {
		t.Fatal("no text")
	}
	if s.Original != utf8.RuneCountInString(text) || s.Length != utf8.RuneCountInString(s.Summary) {
		t.Errorf("lengths %+v", s)
	}
	return s
}

// document is a text whose sentences are known, and which of them a summary must have.
type document struct {
	name      string
	sentences []string
	key       []string
	text      string
}

func documents(t *testing.T, file string) []document {
	t.Helper()
	var all []document
	for _, line := range lines(t, "summaries", file) {
		if name, ok := strings.CutPrefix(line, "=== "); ok {
			all = append(all, document{name: name})
			continue
		}
		d := &all[len(all)-1]
		if line == "" {
			d.text += "\n\n"
			continue
		}
		sentence := line[2:]
		if d.text != "" && !strings.HasSuffix(d.text, "\n") {
			d.text += " "
		}
		d.text += sentence
		d.sentences = append(d.sentences, sentence)
		if strings.HasPrefix(line, "*") {
			d.key = append(d.key, sentence)
		}
	}
	return all
}

// TestCoverageOfKeySentences measures how many of the sentences that a person would keep are in summaries of that length,
// beside what taking the first ones gives.
func TestCoverageOfKeySentences(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for file, floor := range map[string]float64{"dev.txt": 0.75, "heldout.txt": 0.75} {
		kept, first, key := 0, 0, 0
		for _, d := range documents(t, file) {
			s := b.summarize(t, map[string]any{"text": d.text, "max_sentences": len(d.key), "style": "detailed"})
			for i, sentence := range d.sentences {
				if i < len(d.key) {
					first += count(d.key, sentence)
				}
			}
			for _, sentence := range d.key {
				key++
				if strings.Contains(s.Summary, sentence) {
					kept++
				}
			}
		}
		t.Logf("measured: text_summarize %-11s %d of %d key sentences kept (%.2f); the first sentences have %.2f", strings.TrimSuffix(file, ".txt"), kept, key, share(kept, key), share(first, key))
		if share(kept, key) < floor || share(kept, key) <= share(first, key) {
			t.Errorf("%s: coverage %.2f", file, share(kept, key))
		}
	}
}

func count(list []string, item string) int {
	for _, other := range list {
		if other == item {
			return 1
		}
	}
	return 0
}

// TestSentences: a bullet for each sentence shows where the skill cuts.
func TestSentences(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const filler = " Nothing else of note happened in the quiet village on that day."
	for _, sentence := range []string{
		"Dr. J. R. Smith of Smith & Co. paid 3.5 million to the U.S. embassy at 5 p.m. sharp.",
		"See e.g. https://example.com/a.b?c=d. of version 1.2.3, fig. 4.",
		"\"Is that so?\" he asked, i.e. he doubted it.",
		"Am 3. März kam z. B. Frau Dr. Weber aus St. Gallen.",
		"Wait… what did she say about vol. 2?",
	} {
		s := b.summarize(t, map[string]any{"text": sentence + filler + filler[:len(filler)-1] + " again!", "max_sentences": 2, "style": "bullet-points"})
		if !strings.Contains(s.Summary, "• "+sentence) && strings.Contains(s.Summary, sentence[:12]) {
			t.Errorf("%q was cut: %q", sentence, s.Summary)
		}
		whole := b.summarize(t, map[string]any{"text": sentence, "max_sentences": 1})
		if whole.Extracted != 1 || whole.Summary != sentence || whole.Ratio != 1 {
			t.Errorf("%q is %d sentences", sentence, whole.Extracted)
		}
	}
	for text, want := range map[string]int{"今天天气很好。我们去公园。": 2, "هل هذا صحيح؟ نعم.": 2, "One line\n- a point\n- another point": 3, "": 0, "...": 0, "\u0000 \u0001": 0} {
		if text == "" {
			continue
		}
		if s := b.summarize(t, map[string]any{"text": text, "max_sentences": 20}); s.Extracted != want {
			t.Errorf("%q has %d sentences, not %d", text, s.Extracted, want)
		}
	}
}

// TestStyles: the same sentences, in the order of the text and in three forms.
func TestStyles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const text = "The mill (built in 1820) burned down in 1904 after a storm. It was rainy.\n\nThe town rebuilt the mill with 20,000 crowns from a lottery. A cat slept. The mill is a museum of the town since 1988. Dogs barked."
	want := []string{"The mill (built in 1820) burned down in 1904 after a storm.", "The town rebuilt the mill with 20,000 crowns from a lottery.", "The mill is a museum of the town since 1988."}
	for style, summary := range map[string]string{
		"concise":       strings.ReplaceAll(strings.Join(want, " "), " (built in 1820)", ""),
		"detailed":      want[0] + "\n\n" + want[1] + " " + want[2],
		"bullet-points": "• " + strings.Join(want, "\n• "),
	} {
		if s := b.summarize(t, map[string]any{"text": text, "max_sentences": 3, "style": style}); s.Summary != summary || s.Extracted != 3 || s.Ratio <= 0 || s.Ratio >= 1 {
			t.Errorf("%s: %+v", style, s)
		}
	}
	// With sentences enough the text stays as it is.
	if s := b.summarize(t, map[string]any{"text": text, "max_sentences": 6, "style": "bullet-points"}); s.Summary != text || s.Ratio != 1 {
		t.Errorf("%+v", s)
	}
	// What is said twice is taken once.
	if s := b.summarize(t, map[string]any{"text": strings.Repeat(want[0]+" ", 9) + want[1], "max_sentences": 5}); strings.Count(s.Summary, "burned") != 1 {
		t.Errorf("%q", s.Summary)
	}
}

// TestSummarizeHostile: the longest text that is taken, of units that have no sentences, too many, or no words.
func TestSummarizeHostile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, unit := range []string{"a", "a. ", "Ab c. ", ".", "!", "! ", "\n", "\x00", "😂! ", "שלום עולם. ", "今天天气很好。", "\" ", "A.", "(", "e\u0301. ", "\u202eAbc. ", "The same words again here. "} {
		n := 100_000 / utf8.RuneCountInString(unit)
		s := b.summarize(t, map[string]any{"text": strings.Repeat(unit, n), "max_sentences": 20})
		if s.Extracted > 20 || s.Length > s.Original {
			t.Errorf("%q: %d sentences of %d characters", unit, s.Extracted, s.Length)
		}
	}
}
