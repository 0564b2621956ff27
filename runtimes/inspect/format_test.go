package inspect_test

import (
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	inspector := newInspector(t)
	tests := map[string]struct {
		script, want string
		line         int // line of the only error
		complaint    string
	}{
		"indentation and comments": {script: "if true;then\necho 1   # one\n      fi", want: "if true; then\n   echo 1 # one\nfi\n"},
		"a here-document":          {script: "cat <<E\n  as it was\nE\n", want: "cat <<E\n  as it was\nE\n"},
		"nothing":                  {script: "", want: ""},
		"a syntax error":           {script: "echo 1\nif true; then\n", line: 2, complaint: "must be followed"},
		"nested too deeply":        {script: strings.Repeat("(", 6000), line: 1, complaint: "nested"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, errors, err := inspector.Format(t.Context(), tt.script, 3)
			if err != nil || got != tt.want || (len(errors) > 0) != (tt.complaint != "") {
				t.Fatalf("%q, %+v, %v, want %q", got, errors, err, tt.want)
			}
			if tt.complaint != "" && (errors[0].Line != tt.line || !strings.Contains(errors[0].Message, tt.complaint)) {
				t.Errorf("%+v, want line %d and %q", errors[0], tt.line, tt.complaint)
			}
		})
	}
}
