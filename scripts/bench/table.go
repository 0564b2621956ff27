package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// row is a line of the table. Cells without a value are empty.
type row struct {
	what, measured, floor, must, aim, verdict string
}

func (r row) cells() []string { return []string{r.what, r.measured, r.floor, r.must, r.aim, r.verdict} }

// section is a part of the table with a separate heading.
type section struct {
	title string
	rows  []row
}

// table holds all measurements.
type table struct{ sections []section }

var heads = []string{"", "measured", "compared with its floor", "must", "aim", "verdict"}

// print adds a section to the table and prints it immediately, because the whole measurement takes minutes.
func (t *table) print(s section) {
	t.sections = append(t.sections, s)
	widths := make([]int, len(heads))
	rows := [][]string{heads}
	for _, r := range s.rows {
		rows = append(rows, r.cells())
	}
	for _, cells := range rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	fmt.Printf("\n%s\n", s.title)
	for _, cells := range rows {
		var line strings.Builder
		for i, cell := range cells {
			if !empty(s.rows, i) {
				line.WriteString("  " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
			}
		}
		fmt.Println(strings.TrimRight(line.String(), " "))
	}
}

func empty(rows []row, column int) bool {
	for _, r := range rows {
		if r.cells()[column] != "" {
			return false
		}
	}
	return true
}

// bar is the required value (must) and the desired value (aim) of a measurement. The values are minima if least is
// true, otherwise maxima.
type bar struct {
	must, aim float64 // aim is 0 if there is none
	least     bool
	unit      string
	of        string // how the required value was calculated, such as "3 × (HTTP + insert)"; "" for a constant
}

// judge fills in the columns of a row that compare the measured number with the required value. If the requirement is
// missed, the row also contains the text why.
func (b bar) judge(r row, got float64, why string) row {
	sign := "≤"
	if b.least {
		sign = "≥"
	}
	r.must = fmt.Sprintf("%s %s %s", sign, short(b.must), b.unit)
	if b.of != "" {
		r.must += " = " + b.of
	}
	if b.aim > 0 {
		r.aim = fmt.Sprintf("%s %s", short(b.aim), b.unit)
	}
	meets := func(limit float64) bool { return got <= limit != b.least || got == limit }
	switch {
	case b.aim > 0 && meets(b.aim):
		r.verdict = "aim met"
	case meets(b.must):
		r.verdict = "must met"
	case b.least:
		r.verdict = strings.TrimRight(fmt.Sprintf("MISSED, %.0f %% of it: %s", 100*got/b.must, why), ": ")
	default:
		r.verdict = strings.TrimRight(fmt.Sprintf("MISSED by %.1f ×: %s", got/b.must, why), ": ")
	}
	return r
}

func short(n float64) string {
	if n >= 100 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.3g", n)
}
