package toolmaker

import (
	"slices"
	"testing"
)

func TestWordsOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Count the words in a text, counting words.": {"count", "word", "text"},
		"parse-csv_files":     {"pars", "csv", "fil"},
		"please use the tool": nil,
		"":                    nil,
		"Größen messen":       {"größen", "messen"},
	} {
		if got := wordsOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
