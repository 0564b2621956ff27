package registry_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
)

func TestCheckTitle(t *testing.T) {
	t.Parallel()
	for title, valid := range map[string]bool{
		"Ada Lovelace":             true,
		"Zoë 👩\u200d💻":             true,
		"می\u200cخواهم":            true,
		strings.Repeat("ß", 100):   true,
		strings.Repeat("ß", 101):   false,
		"":                         false,
		" Ada":                     false,
		"Ada ":                     false,
		"Ada\u200dLovelace":        false, // looks like AdaLovelace
		"Ada\u200d":                false,
		"\u200d💻":                  false,
		"👩\u200d\u200d💻":           false,
		"evil \u202elive":          false,
		"two\nlines":               false,
		"not UTF-8 \xff":           false,
		"zero\u200bwidth":          false,
		"soft\u00adhyphen":         false,
		"byte order mark \ufeff\n": false,
	} {
		if err := registry.CheckTitle(title); (err == nil) != valid {
			t.Errorf("%q: %v", title, err)
		}
	}
}
