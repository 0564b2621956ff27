// Package rules is the rule pack `restricted` for Python: the part that runs in the jail, before a program and around it, and
// which modules may be imported unless somebody says otherwise. Rules are a convention that keeps programs readable and
// their makers honest; the jail is the wall.
package rules

import (
	_ "embed" // the part in the jail
	"slices"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

//go:embed rules.py
var source string

// Source is the Python that goes with a script which applies the rules.
func Source() string { return source }

// Imports lists the modules that a program under these rules may import: pure ones, which compute and reach nothing.
func Imports(r runtimes.Rules) []string {
	if len(r.Imports) > 0 {
		return slices.Sorted(slices.Values(r.Imports))
	}
	return strings.Fields(`
		abc array base64 bisect calendar cmath collections copy dataclasses datetime decimal difflib enum fractions functools hashlib
		heapq hmac html itertools json math numbers random re statistics string textwrap time typing unicodedata urllib.parse uuid zlib`)
}
