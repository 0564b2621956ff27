package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// write stores the table as Markdown with a description of the machine.
func (t *table) write(ctx context.Context, path string, server load.Client) error {
	programs, err := interpreters(ctx, server)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, `# Benchmarks

Written by `+"`make bench`"+`; do not edit. Every answer was compared with a value computed from an input that varies. Server and
clients share the machine, so absolute numbers hold for it alone. Compare each row with its floor. Both were measured in the
same run. A section that says "Measured later" comes from a later run, which measured its own floors. "Others" is the load of
other processes at the same time: rows with much of it are noisy.

| | |
| --- | --- |
| measured | %s |
| processor | %s, %d cores |
| kernel | %s |
| Go | %s |
| Python | %s |
| Bash | %s |
| Node | %s |
`, time.Now().UTC().Format("2006-01-02 15:04 UTC"), processor(), runtime.NumCPU(), commandOutput(ctx, "uname", "-sr"), runtime.Version(),
		commandOutput(ctx, programs["python"], "-V"), commandOutput(ctx, programs["bash"], "-c", "echo $BASH_VERSION"), commandOutput(ctx, "node", "-v"))
	for _, s := range t.sections {
		text.WriteString(s.markdown(""))
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

const sectionMark = "\n## "

// replace writes the sections into an existing report. It does not change the sections that were not measured.
func (t *table) replace(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parts := strings.SplitAfter(strings.ReplaceAll(string(text), sectionMark, "\x00"+sectionMark), "\x00")
	at := 0                            // new sections follow the last section that was replaced
	for _, s := range t.sections[1:] { // skips the lower bounds, because those in the report belong to its other sections
		written := s.markdown(fmt.Sprintf("Measured later, %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"))) + "\x00"
		found := slices.IndexFunc(parts, func(part string) bool { return strings.HasPrefix(part, sectionMark+s.title+"\n") })
		if found >= 0 {
			parts[found], at = written, found
			continue
		}
		at = min(at+1, len(parts))
		parts = slices.Insert(parts, at, written)
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(strings.Join(parts, ""), "\x00", "")), 0o644)
}

// markdown returns a section as Markdown, with a remark under its title.
func (s section) markdown(remark string) string {
	var text strings.Builder
	text.WriteString(sectionMark + s.title + "\n\n" + remark)
	writeRow(&text, heads, s.rows)
	writeRow(&text, []string{"---", "---", "---", "---", "---", "---"}, s.rows)
	for _, r := range s.rows {
		writeRow(&text, r.cells(), s.rows)
	}
	return text.String()
}

// writeRow writes a row of a Markdown table. It omits columns that are empty in all rows of the section.
func writeRow(text *strings.Builder, cells []string, rows []row) {
	text.WriteString("|")
	for i, cell := range cells {
		if i == 0 || !empty(rows, i) {
			text.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
		}
	}
	text.WriteString("\n")
}

func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// commandOutput returns the output of a command, for example the version of a tool.
func commandOutput(ctx context.Context, name string, args ...string) string {
	text, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return "not installed"
	}
	return strings.TrimSpace(string(text))
}
