package main

import (
	"regexp"
	"strings"
)

// Of a long run often only the last lines are kept. So each failure there says in two short lines what happened.
const (
	whyLines = 2
	whyWidth = 200
)

var (
	ansi = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// A message of a test or of the compiler, or how a program of Go dies.
	goWhy = regexp.MustCompile(`^\s*\S+\.go:\d+:|^\s*(panic|fatal error): |DATA RACE`)
	// Where a race is, which is all that its report says at first.
	goRace = regexp.MustCompile(`^\s+\S+\.go:\d+ \+0x`)
)

// why picks the first lines that say something, ready to stand beneath a failure's name.
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
		return goWhy.MatchString(line) || race && goRace.MatchString(line)
	})
}

// whyVitest leaves out where the code stands: its line is in the failure's name.
func whyVitest(text string) string {
	return why(text, func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "Call log:" && !strings.HasPrefix(line, "at ")
	})
}
