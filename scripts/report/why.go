package main

import (
	"regexp"
	"strings"
)

// These constants limit the reason that is printed at the end under each failure. Often only the end of a long output
// is stored. So the reason must be at the end, and it must be short.
const (
	whyLines = 2
	whyWidth = 200
)

var (
	ansi = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// goWhy matches a message of a test or of the compiler, a crash of a Go program, or a data race.
	goWhy = regexp.MustCompile(`^\s*\S+\.go:\d+:|^\s*(panic|fatal error): |DATA RACE`)
	// goLog matches the title of a server's log. The log is printed after the reason of a failure.
	goLog = regexp.MustCompile(`^\s*\S+\.go:\d+: the server's log:$`)
	// goRace matches a line with a code location in the report of a data race.
	goRace = regexp.MustCompile(`^\s+\S+\.go:\d+ \+0x`)
)

// why returns the first meaningful lines of an output. They are printed under the name of the failure.
func why(text string, says func(line string) bool) string {
	var found strings.Builder
	left := whyLines
	for line := range strings.SplitSeq(ansi.ReplaceAllString(text, ""), "\n") {
		if left == 0 {
			break
		}
		if line = strings.TrimRight(line, " \t\r"); line == "" || !says(line) {
			continue
		}
		line = strings.TrimSpace(line)
		if runes := []rune(line); len(runes) > whyWidth {
			line = string(runes[:whyWidth]) + "…"
		}
		found.WriteString("\n      " + line)
		left--
	}
	return found.String()
}

func whyGo(text string) string {
	race := false
	return why(text, func(line string) bool {
		race = race || strings.Contains(line, "DATA RACE")
		if goLog.MatchString(line) {
			return false
		}
		return goWhy.MatchString(line) || race && goRace.MatchString(line)
	})
}

// races returns the reports of the race detector in an output, each without its frame of equals signs. The detector
// writes a report into the output of any test that runs at that time, even if the test passes.
func races(text string) []string {
	var found []string
	for {
		_, rest, ok := strings.Cut(text, "WARNING: DATA RACE\n")
		if !ok {
			return found
		}
		report, rest, _ := strings.Cut(rest, "==================")
		found, text = append(found, report), rest
	}
}

// whyVitest returns the first lines of a vitest failure. It omits the location, because the name of the failure
// contains it.
func whyVitest(text string) string {
	return why(text, func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "Call log:" && !strings.HasPrefix(line, "at ")
	})
}
