package cli

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/atelier-run/atelier/internal/bytesize"
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

// showChanges prints the differences between two folders, file by file.
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
			_, _ = fmt.Fprintf(out, "  %s change to %s\n", bytesize.Text(len(before)), bytesize.Text(len(after)))
			continue
		}
		unified := strings.TrimSuffix(udiff.Unified("", "", string(before), string(after)), "\n")
		for i, line := range strings.Split(unified, "\n") {
			if i > 1 { // Skip the first two lines: the file names were printed before.
				_, _ = fmt.Fprintln(out, telemetry.Escape(line))
			}
		}
	}
}
