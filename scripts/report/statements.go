package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

const (
	lastStatement = 50
	// foreignStatement is the ID of the statement about all browser tests together. The statement is true if none of their
	// pages misbehaves.
	foreignStatement = "A46"
)

// unbuilt lists statements about screens for which the server has no API yet.
func unbuilt() []string { return []string{"A43", "A45"} }

// statementIDs matches the IDs of statements at the start of a test title, as in "A46 A47 every screen …".
var statementIDs = regexp.MustCompile(`^(?:A\d\d )+`)

// tally counts the pages that the browser tests watched and the accessibility checks.
type tally struct {
	Sessions int `json:"sessions"`
	Screens  int `json:"screens"`
	Axe      int `json:"axe"`
	Foreign  int `json:"foreign"`
	Policy   int `json:"policy"`
}

// printStatements prints how many statements have a passing test, the statements that have none, and the tally.
func printStatements(result, tallied string, out io.Writer) error {
	report, err := parseVitest(result)
	if err != nil {
		return err
	}
	sum, err := readTally(tallied)
	if err != nil {
		return err
	}
	held := map[string]bool{} // by statement that has tests: true if all of them passed
	for _, file := range report.TestResults {
		for _, test := range file.AssertionResults {
			for _, title := range append(test.AncestorTitles, test.Title) {
				for _, id := range strings.Fields(statementIDs.FindString(title)) {
					before, seen := held[id]
					held[id] = test.Status == "passed" && (before || !seen)
				}
			}
		}
	}
	held[foreignStatement] = sum.Sessions > 0 && sum.Foreign == 0 && sum.Policy == 0

	var missing []string
	count, total := 0, 0
	for n := 1; n <= lastStatement; n++ {
		id := fmt.Sprintf("A%02d", n)
		if slices.Contains(unbuilt(), id) {
			continue
		}
		total++
		if held[id] {
			count++
			continue
		}
		missing = append(missing, id)
	}
	fmt.Fprintf(out, "statements %d of %d\n", count, total)
	if len(missing) > 0 {
		fmt.Fprintln(out, "without a passing test:", strings.Join(missing, " "))
	}
	fmt.Fprintf(out, "axe violations %d on %d screens\n", sum.Axe, sum.Screens)
	fmt.Fprintf(out, "foreign requests %d, CSP violations %d in %d sessions\n", sum.Foreign, sum.Policy, sum.Sessions)
	return nil
}

// readTally adds up the lines that the browser tests wrote, one line per session and check.
func readTally(file string) (tally, error) {
	var sum tally
	in, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return sum, nil
	}
	if err != nil {
		return sum, err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var t tally
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return sum, fmt.Errorf("read %s: %w", file, err)
		}
		sum.Sessions, sum.Screens = sum.Sessions+t.Sessions, sum.Screens+t.Screens
		sum.Axe, sum.Foreign, sum.Policy = sum.Axe+t.Axe, sum.Foreign+t.Foreign, sum.Policy+t.Policy
	}
	return sum, lines.Err()
}
