package cli

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
)

// changed lists the paths at which two folders differ.
func changed(from, to map[string]registry.File) []string {
	paths := map[string]bool{}
	for path, content := range from {
		if other, ok := to[path]; !ok || !bytes.Equal(content, other) {
			paths[path] = true
		}
	}
	for path := range to {
		if _, ok := from[path]; !ok {
			paths[path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// showChanges prints what would become of a folder, file by file.
func showChanges(out io.Writer, from, to map[string]registry.File) {
	for _, path := range changed(from, to) {
		before, was := from[path]
		after, is := to[path]
		what := "changed"
		switch {
		case !was:
			what = "added"
		case !is:
			what = "removed"
		}
		_, _ = fmt.Fprintf(out, "%s %s\n", what, telemetry.Escape(path))
		if !utf8.Valid(before) || !utf8.Valid(after) {
			_, _ = fmt.Fprintf(out, "  %d bytes become %d\n", len(before), len(after))
			continue
		}
		for _, line := range diffLines(string(before), string(after)) {
			_, _ = fmt.Fprintln(out, telemetry.Escape(line))
		}
	}
}

const (
	aroundChange = 3         // lines of context
	maxDiffCells = 4_000_000 // of the table; larger texts are shown as replaced
)

// diffLines marks lines with -, + or a space, and leaves out what is far from any change.
func diffLines(before, after string) []string {
	a, b := linesOf(before), linesOf(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	marked := make([]string, 0, len(a)+len(b))
	for _, line := range a[:head] {
		marked = append(marked, " "+line)
	}
	marked = append(marked, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, line := range a[len(a)-tail:] {
		marked = append(marked, " "+line)
	}
	return near(marked)
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// middle finds the longest common lines of two texts.
func middle(a, b []string) []string {
	var out []string
	if len(a)*len(b) > maxDiffCells {
		for _, line := range a {
			out = append(out, "-"+line)
		}
		for _, line := range b {
			out = append(out, "+"+line)
		}
		return out
	}
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width) // of the rest from i and j on
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, " "+a[i])
			i, j = i+1, j+1
		case j == len(b) || (i < len(a) && common[(i+1)*width+j] >= common[i*width+j+1]):
			out = append(out, "-"+a[i])
			i++
		default:
			out = append(out, "+"+b[j])
			j++
		}
	}
	return out
}

// near keeps changes and the lines around them.
func near(marked []string) []string {
	keep := make([]bool, len(marked))
	for i, line := range marked {
		if line[0] == ' ' {
			continue
		}
		for k := max(0, i-aroundChange); k <= min(len(marked)-1, i+aroundChange); k++ {
			keep[k] = true
		}
	}
	var out []string
	for i, line := range marked {
		switch {
		case keep[i]:
			out = append(out, line)
		case i == 0 || keep[i-1]:
			out = append(out, "  …")
		}
	}
	return out
}
