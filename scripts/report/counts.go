package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Counts is what one runner found. It is kept as one JSON line in a file, so that runners can follow one another.
type Counts struct {
	Name     string   `json:"name"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Skipped  int      `json:"skipped"`
	Failures []string `json:"failures,omitempty"`
	Skips    []string `json:"skips,omitempty"`
}

func (c Counts) save(file string) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return err
	}
	return out.Close()
}

// printTotal names every failure and skip and ends with one line of sums. In CI a skip is a failure: the machine there
// is meant to have everything, and a suite that quietly stops running protects nobody.
func printTotal(file string, out io.Writer, ci bool) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	var sum Counts
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c Counts
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		sum.Passed, sum.Failed, sum.Skipped = sum.Passed+c.Passed, sum.Failed+c.Failed, sum.Skipped+c.Skipped
		sum.Failures, sum.Skips = append(sum.Failures, c.Failures...), append(sum.Skips, c.Skips...)
		fmt.Fprintf(out, "%-12s %5d passed  %3d failed  %3d skipped\n", c.Name, c.Passed, c.Failed, c.Skipped)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for _, skip := range sum.Skips {
		fmt.Fprintln(out, "skipped:", skip)
	}
	for _, failure := range sum.Failures {
		fmt.Fprintln(out, "failed:", failure)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", sum.Passed, sum.Failed, sum.Skipped)
	switch {
	case sum.Failed > 0:
		return fmt.Errorf("%d tests failed", sum.Failed)
	case sum.Passed == 0:
		return fmt.Errorf("no test ran")
	case ci && sum.Skipped > 0:
		return fmt.Errorf("%d tests were skipped, and CI=true allows none", sum.Skipped)
	}
	return nil
}
