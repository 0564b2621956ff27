package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// vitestReport contains the fields of vitest's JSON report that this command uses.
type vitestReport struct {
	TestResults []struct {
		Name             string `json:"name"`
		Status           string `json:"status"`
		Message          string `json:"message"`
		AssertionResults []struct {
			AncestorTitles []string `json:"ancestorTitles"`
			Title          string   `json:"title"`
			FullName       string   `json:"fullName"`
			Status         string   `json:"status"`
			// FailureMessages are error messages with a stack trace. They contain terminal colours.
			FailureMessages []string `json:"failureMessages"`
		} `json:"assertionResults"`
	} `json:"testResults"`
}

// readVitest counts the results in a vitest report. code is the exit code of vitest, which has already printed the failures.
func readVitest(name, file, code string) (Counts, error) {
	counts := Counts{Name: name}
	report, err := parseVitest(file)
	if errors.Is(err, fs.ErrNotExist) {
		// The runner ended without a report. That is a failure; it does not mean that there are no tests.
		counts.Failed, counts.Failures = 1, []Failure{{Title: name + ": no report was written"}}
		return counts, nil
	}
	if err != nil {
		return counts, err
	}
	for _, result := range report.TestResults {
		path := filepath.Base(result.Name)
		failed := counts.Failed
		for _, test := range result.AssertionResults {
			title := path + " " + strings.TrimSpace(test.FullName)
			switch test.Status {
			case "passed":
				counts.Passed++
			case "failed":
				counts.Failed++
				said := strings.Join(test.FailureMessages, "\n")
				counts.Failures = append(counts.Failures, Failure{title + place(said, path), whyVitest(said), vitestRerun(result.Name, strings.TrimSpace(test.FullName))})
			default: // the status is skipped, pending, todo or disabled
				counts.Skipped++
				counts.Skips = append(counts.Skips, title)
			}
		}
		if result.Status == "failed" && counts.Failed == failed {
			counts.Failed++
			counts.Failures = append(counts.Failures, Failure{path, whyVitest(result.Message), vitestRerun(result.Name, "")})
		}
	}
	if code != "0" && counts.Failed == 0 {
		counts.Failed, counts.Failures = 1, []Failure{{Title: name + ": no test failed, but vitest ended with code " + code}}
	}
	return counts, nil
}

// place returns the line number of a failure in the test's own file. The stack trace may begin in other files.
func place(stack, file string) string {
	_, after, found := strings.Cut(stack, "/"+file+":")
	line, _, more := strings.Cut(after, ":")
	if !found || !more {
		return ""
	}
	return " (line " + line + ")"
}

func parseVitest(file string) (vitestReport, error) {
	var report vitestReport
	text, err := os.ReadFile(file)
	if err != nil {
		return report, err
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return report, fmt.Errorf("read %s: %w", file, err)
	}
	return report, nil
}
