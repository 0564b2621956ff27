package sandbox

import (
	"fmt"
	"strings"
)

// Summary describes Stderr for a log: its size, and which of Go's fatal messages it contains. It quotes no other text,
// because a program could have written secrets to Stderr.
func (e Exit) Summary() string {
	if e.Stderr == "" {
		return "nothing on stderr"
	}
	known := []string{
		"stack overflow", "out of memory", "concurrent map", "all goroutines are asleep", "nil pointer dereference", "index out of range",
		"slice bounds out of range", "nil map", "closed channel", "failed to create new OS thread", "thread exhaustion", "SIGSEGV", "SIGBUS", "SIGILL", "SIGSYS",
		"SIGABRT", "fatal error:", "panic:", "resource temporarily unavailable", "broken pipe", "connection reset by peer", "no space left on device", launcherEnded,
	}
	var found []string
	for _, words := range known {
		if strings.Contains(e.Stderr, words) {
			found = append(found, fmt.Sprintf("%q", words))
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("%d bytes on stderr", len(e.Stderr))
	}
	return fmt.Sprintf("%d bytes on stderr, with %s", len(e.Stderr), strings.Join(found, ", "))
}
