package main

import (
	"fmt"
	"slices"
	"strings"
)

// curves holds all samples of a soak test, oldest first.
type curves []sample

// settling is the divisor for the number of samples at the start that are ignored. During these samples, caches and
// pools are still filling up.
const settling = 4 // ignores one sample in four

// print prints the curve of each resource. It returns an error if a resource has grown.
func (c curves) print() error {
	if len(c) < 8 {
		return fmt.Errorf("%d samples are too few to detect growth; at least 8 are needed", len(c))
	}
	settled := c[len(c)/settling:]
	third := len(settled) / 3
	fmt.Println()
	var growing []string
	for i, r := range resources {
		early, late := settled[:third].median(i), settled[len(settled)-third:].median(i)
		word := "flat"
		if late > early*1.1+r.slack {
			word = "GROWS"
			growing = append(growing, r.name)
		}
		fmt.Printf("  %-18s %s  %7.1f → %7.1f  %s\n", r.name, c.line(i), early, late, word)
	}
	if len(growing) > 0 {
		return fmt.Errorf("these grow: %s", strings.Join(growing, ", "))
	}
	return nil
}

// median returns the median of a resource. A single sample that was taken while a pool was being refilled affects the
// mean but not the median.
func (c curves) median(resource int) float64 {
	var all []float64
	for _, s := range c {
		all = append(all, s[resource])
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// line returns the curve of a resource as one line of text. The scale is from zero to the maximum.
func (c curves) line(resource int) string {
	steps := []rune("▁▂▃▄▅▆▇█")
	top := 0.0
	for _, s := range c {
		top = max(top, s[resource])
	}
	var line strings.Builder
	for _, s := range c {
		at := 0
		if top > 0 {
			at = int(s[resource] / top * float64(len(steps)-1))
		}
		line.WriteRune(steps[at])
	}
	return line.String()
}
