package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mostReruns is the maximum number of failed tests that are run again. If more tests fail, the build or the machine is
// broken. A data race fails every test that runs at that time, so such failures have a higher maximum, mostDuringRace.
const (
	mostReruns     = 12
	mostDuringRace = 150
)

// rerun runs each failed test once more, one at a time. It moves the tests that pass to the unstable tests. So one
// unstable test does not reject a change, but its name is printed.
func rerun(file string, out io.Writer) error {
	all, err := readCounts(file)
	if err != nil {
		return err
	}
	failed, duringRace := 0, 0
	for _, c := range all {
		failed += c.Failed
		for _, failure := range c.Failures {
			if failure.duringRace() {
				duringRace++
			}
		}
	}
	if failed == 0 {
		return nil
	}
	if failed-duringRace > mostReruns || duringRace > mostDuringRace {
		fmt.Fprintf(out, "%d tests failed: more than %d, or %d during a data race, are not run again\n", failed, mostReruns, mostDuringRace)
		return nil
	}
	for i := range all {
		rerunOf(&all[i], out)
	}

	temp := file + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	for _, c := range all {
		if err := c.save(temp); err != nil {
			return err
		}
	}
	return os.Rename(temp, file)
}

// duringRace reports whether a test failed only because a data race was found while the test ran.
func (f Failure) duringRace() bool {
	return strings.HasSuffix(f.Why, ": race detected during execution of test") && strings.Count(f.Why, "\n") == 1
}

// rerunOf runs the failed tests of one runner again.
func rerunOf(c *Counts, out io.Writer) {
	var left []Failure
	for _, failure := range c.Failures {
		if len(c.Command) == 0 || len(failure.Rerun) == 0 {
			left = append(left, failure)
			continue
		}
		fmt.Fprintf(out, "\n-- again: %s\n", failure.Title)
		if err := passesAlone(c.Command, failure.Rerun, out); err != nil {
			fmt.Fprintf(out, "-- failed again: %v\n", err)
			left = append(left, failure)
			continue
		}
		c.Unstable = append(c.Unstable, failure)
		c.Failed--
		c.Passed++
	}
	c.Failures = left
}

// passesAlone runs one test and reports whether it passes. vitest exits with 0 even if no test matches the name. So the
// report of vitest must also contain a passed test.
func passesAlone(command, choice []string, out io.Writer) error {
	args := slices.Concat(command, choice)
	vitest := slices.Contains(command, "vitest")
	result := filepath.Join(os.TempDir(), fmt.Sprintf("atelier-rerun-%d.json", os.Getpid()))
	if vitest {
		defer os.Remove(result)
		args = append(args, "--reporter=default", "--reporter=json", "--outputFile.json="+result)
	}
	run := exec.Command(args[0], args[1:]...)
	run.Stdout, run.Stderr = out, out
	if err := run.Run(); err != nil || !vitest {
		return err
	}
	counts, err := readVitest("", result, "0")
	if err != nil {
		return err
	}
	if counts.Passed == 0 || counts.Failed > 0 {
		return fmt.Errorf("%d passed, %d failed", counts.Passed, counts.Failed)
	}
	return nil
}

// vitestRerun returns the arguments that select one test by its file and full name, or a whole file. vitest interprets
// a name as a regular expression.
func vitestRerun(file, fullName string) []string {
	args := []string{filepath.Base(file)}
	if fullName != "" {
		args = append(args, "--testNamePattern", `^\s*`+regexp.QuoteMeta(fullName)+"$")
	}
	return args
}
