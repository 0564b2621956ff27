package schema_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry/schema"
)

// TestPatterns_NotECMA262_Refused reads the same list of patterns as a test of the Studio, which compiles them in
// JavaScript.
func TestPatterns_NotECMA262_Refused(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/patterns.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	count := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		answer, pattern, _ := strings.Cut(lines.Text(), " ")
		if answer == "#" {
			continue
		}
		count++
		text, err := json.Marshal(map[string]string{"pattern": pattern})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := schema.Compile(text); (err == nil) != (answer == "yes") {
			t.Errorf("%s: JavaScript says %s, Compile says %v", pattern, answer, err)
		}
	}
	if count < 90 {
		t.Errorf("only %d patterns", count)
	}
}

func TestPatterns_OtherDialect_RemedyNamed(t *testing.T) {
	t.Parallel()
	for pattern, remedy := range map[string]string{
		"(?i)a": "write both cases", "(?P<n>a)": "(?<name>…)", "[[:alpha:]]": `\p{L}`, `a\Z`: "write $", `\Aa`: "write ^", `a\@b`: "remove the backslash",
	} {
		text, err := json.Marshal(map[string]string{"pattern": pattern})
		if err != nil {
			t.Fatal(err)
		}
		_, err = schema.Compile(text)
		if found := detailsOf(err); len(found) != 1 || !strings.HasPrefix(found[0], "/pattern: ") || !strings.Contains(found[0], remedy) {
			t.Errorf("%s: %q", pattern, found)
		}
	}
}
