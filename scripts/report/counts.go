package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Counts holds the results of one test runner. Each runner appends its counts to a file, as one line of JSON.
type Counts struct {
	Name     string    `json:"name"`
	Passed   int       `json:"passed"`
	Failed   int       `json:"failed"`
	Skipped  int       `json:"skipped"`
	Failures []Failure `json:"failures,omitempty"`
	Skips    []string  `json:"skips,omitempty"`
	// Unstable lists tests that failed first and passed when they were run again alone. They count as passed.
	Unstable []Failure `json:"unstable,omitempty"`
	// Races holds the reports of the race detector. A data race fails every test that runs at that time.
	Races []string `json:"races,omitempty"`
	// Command is the command line of the runner. The arguments that select one test follow it.
	Command []string `json:"command,omitempty"`
}

// Failure describes one failed test. It may also describe a package or a file that failed outside of a test.
type Failure struct {
	Title string `json:"title"`
	// Why holds the first meaningful lines of the failure's output.
	Why string `json:"why,omitempty"`
	// Rerun holds the arguments that select this test. It is empty if running the test again is useless, for example after
	// a failed build.
	Rerun []string `json:"rerun,omitempty"`
}

func (f Failure) String() string { return f.Title + f.Why }

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

func readCounts(file string) ([]Counts, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var all []Counts
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c Counts
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, c)
	}
	return all, lines.Err()
}

// mostRaces is the maximum number of race reports that are printed. Several tests often report the same race.
const mostRaces = 3

// printTotal lists every failed, skipped and unstable test. The last line contains the sums. In CI a skipped test
// counts as a failure: CI machines can install all that tests need, and otherwise nobody would notice that a test no
// longer runs.
func printTotal(file string, out io.Writer, ci bool) error {
	all, err := readCounts(file)
	if err != nil {
		return err
	}
	var sum Counts
	for _, c := range all {
		sum.Passed, sum.Failed, sum.Skipped = sum.Passed+c.Passed, sum.Failed+c.Failed, sum.Skipped+c.Skipped
		sum.Failures, sum.Skips = append(sum.Failures, c.Failures...), append(sum.Skips, c.Skips...)
		sum.Unstable = append(sum.Unstable, c.Unstable...)
		sum.Races = append(sum.Races, c.Races...)
		fmt.Fprintf(out, "%-12s %5d passed  %3d failed  %3d skipped\n", c.Name, c.Passed, c.Failed, c.Skipped)
	}
	for _, race := range sum.Races[:min(mostRaces, len(sum.Races))] {
		fmt.Fprint(out, "data race: ", race)
	}
	for _, skip := range sum.Skips {
		fmt.Fprintln(out, "skipped:", skip)
	}
	for _, test := range sum.Unstable {
		fmt.Fprintln(out, "unstable, passed alone:", test)
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
