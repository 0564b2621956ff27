package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/atelier-run/atelier/internal/telemetry"
)

// table prints aligned columns.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, columns ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)}
	t.row(columns...)
	return t
}

func (t table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = telemetry.Escape(cell)
	}
	_, _ = fmt.Fprintln(t.w, strings.Join(cells, "\t")) // The method flush returns the error.
}

func (t table) flush() error { return t.w.Flush() }
