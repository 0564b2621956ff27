package registry_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
)

func TestCheckPaths(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		paths []string
		wrong string // path with a problem, "" for none
		about string
	}{
		"different names":          {[]string{"a.txt", "b.txt", "lib/a.txt", "LIB/b.txt"}, "", ""},
		"only case":                {[]string{"A.txt", "a.txt"}, "a.txt", "A.txt"},
		"only case of a folder":    {[]string{"Lib/a.txt", "lib/a.txt"}, "lib/a.txt", "Lib/a.txt"},
		"only the form of accents": {[]string{"e\u0301.txt", "\u00e9.txt"}, "\u00e9.txt", "e\u0301.txt"},
		"case beyond ASCII":        {[]string{"STRASSE.md", "straße.md"}, "straße.md", "STRASSE.md"},
		"a file and a folder":      {[]string{"lib", "lib/a.js"}, "lib/a.js", "lib, which is a file"},
		"a file and a Folder":      {[]string{"LIB", "lib/x/a.js"}, "lib/x/a.js", "LIB, which is a file"},
		"a dot file":               {[]string{".env", "main.js"}, ".env", "dot"},
		"inside a dot folder":      {[]string{"main.js", "x/.git/config"}, "x/.git/config", "dot"},
		"settings of a folder":     {[]string{"agent.yaml", "main.js"}, "agent.yaml", "agent.yaml"},
		"settings in a folder":     {[]string{"lib/agent.yaml", "lib/input.json", "main.js"}, "", ""},
		"Settings":                 {[]string{"Input.JSON", "main.js"}, "Input.JSON", "input.json"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]registry.File{}
			for _, path := range tt.paths {
				files[path] = nil
			}
			problems := registry.CheckPaths(files)
			switch {
			case tt.wrong == "" && len(problems) > 0:
				t.Errorf("%v", problems)
			case tt.wrong != "" && (len(problems) != 1 || problems[0].Path != tt.wrong || !strings.Contains(problems[0].Problem, tt.about)):
				t.Errorf("%v, want one problem with %s that mentions %s", problems, tt.wrong, tt.about)
			}
			var backwards registry.Paths
			refused := 0
			slices.Reverse(tt.paths)
			for _, path := range tt.paths {
				if backwards.Add(path) != "" {
					refused++
				}
			}
			if refused != len(problems) {
				t.Errorf("%d problems in the other order, want %d", refused, len(problems))
			}
		})
	}
}
