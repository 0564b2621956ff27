package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJourneysAreJudgedByTheirMedians(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "timings")
	lines := `{"journey":"blank","values":[50,40,60]}
{"journey":"editor-cold","values":[2000,800,700]}
{"journey":"frame-worst","values":[75]}
{"journey":"memory-ts","values":[299.4]}
{"journey":"run-api","values":[5]}
{"journey":"run-line","values":[64]}
`
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	took, err := readTimings(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	for _, j := range journeys(took) {
		rows[j.name] = j.row(took, 0.5)
	}
	for name, want := range map[string][]string{
		"blank":       {"50 ms (40 to 60)"},
		"editor-cold": {"800 ms (700 to 2000)", "16.0 × the blank page", "≤ 900 ms", "500 ms", "must met"},
		"frame-worst": {"75 ms", "MISSED by 1.5 ×: others used 0.5 cores"},
		"memory-ts":   {"299 MB", "≤ 300 MB", "must met"},
		"run-line":    {"12.8 × API", "≤ 65 ms = API + 60", "must met"},
		"agents":      {"not measured"},
	} {
		told := strings.Join(rows[name].cells(), " | ")
		for _, part := range want {
			if !strings.Contains(told, part) {
				t.Errorf("%s: %q does not say %q", name, told, part)
			}
		}
	}
	if r := rows["memory-ts"]; r.aim != "" {
		t.Errorf("an aim of %s, where there is none", r.aim)
	}
}

func TestNoTimingsAreNoFault(t *testing.T) {
	t.Parallel()
	if took, err := readTimings(filepath.Join(t.TempDir(), "none")); took != nil || err != nil {
		t.Errorf("%v, %v", took, err)
	}
}
