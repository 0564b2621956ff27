package registry_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
)

func TestDescriptionWarnings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ description, want string }{
		"missing":             {"", "is missing."},
		"only spaces":         {" \n", "is missing."},
		"repeats the title":   {"Word count.", "only repeats the name."},
		"repeats the name":    {"Word_Count", "only repeats the name."},
		"short":               {"Counts words.", "is short (13 characters)."},
		"long":                {strings.Repeat("é", 1025), "has 1025 characters."},
		"good":                {"Returns the number of words in a text.", ""},
		"good in few symbols": {"返回文本中的单词数量。", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, d := range registry.DescriptionWarnings("word-count", "Word count", c.description) {
				got += d.Pointer + " " + d.Message
			}
			if (c.want == "") != (got == "") || !strings.HasPrefix(got, strings.TrimSuffix("/description "+c.want, "/description ")) {
				t.Errorf("the warnings are %q, want %q", got, c.want)
			}
		})
	}
}
