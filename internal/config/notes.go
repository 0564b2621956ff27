package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/editdistance"
)

// meaningless maps each environment variable of existing deployments that has no effect on this server to the reason.
func meaningless() map[string]string {
	return map[string]string{
		"CODE_EXEC_REDIS_URL":      "runs and their provenance are stored in the database",
		"CODE_EXEC_HASH_ALGORITHM": "hashes are always SHA-256",
	}
}

// readElsewhere reports whether other code reads an environment variable that is not a setting: tests, tools, or the
// search for the configuration file.
func readElsewhere(name string) bool {
	return name == "ATELIER_CONFIG" || name == "ATELIER_SERVER" || strings.HasPrefix(name, "ATELIER_TEST_") || name == "CODE_EXEC_HOST" || name == "CODE_EXEC_PORT" || name == "CODE_EXEC_DEBUG"
}

// notes reports each unknown environment variable whose name starts with ATELIER_ or CODE_EXEC_. Each note names the
// setting that was probably meant.
func notes(settings []Setting, environ []string) []string {
	known := []string{"ATELIER_CONFIG", "ATELIER_SERVER", "CODE_EXEC_HOST", "CODE_EXEC_PORT", "CODE_EXEC_DEBUG"}
	for _, s := range settings {
		known = append(append(known, s.Env), s.Aliases...)
	}
	var all []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		reason, idle := meaningless()[name]
		switch {
		case idle:
			all = append(all, fmt.Sprintf("%s is ignored: %s.", name, reason))
		case !strings.HasPrefix(name, "ATELIER_") && !strings.HasPrefix(name, "CODE_EXEC_"), slices.Contains(known, name), readElsewhere(name):
		default:
			all = append(all, fmt.Sprintf("Unknown variable %s is ignored. Did you mean %s?", name, nearest(name, known)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nearest returns the known name with the smallest edit distance. Among equal distances it prefers a name with the same
// prefix.
func nearest(name string, known []string) string {
	best, least := "", 1<<30
	for _, k := range slices.Sorted(slices.Values(known)) {
		if k == "" {
			continue
		}
		d := 2 * editdistance.Distance(name, k)
		if strings.HasPrefix(name, "ATELIER_") != strings.HasPrefix(k, "ATELIER_") {
			d++
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}
