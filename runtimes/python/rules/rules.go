// Package rules implements the rule pack `restricted` for Python. It contains the script that checks a program in the
// sandbox, before and during the run, and the default list of modules that may be imported. The rules ensure that a program
// does only what its source shows. They are not a security boundary; the sandbox is.
package rules

import (
	_ "embed" // the part that runs in the sandbox
	"slices"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

//go:embed rules.py
var source string

// Source returns the Python source that is added to a script that applies the rules.
func Source() string { return source }

// Imports returns the modules that a program under these rules may import. The default modules only compute and have no
// access to files, the network or processes.
func Imports(r runtimes.Rules) []string {
	if len(r.Imports) > 0 {
		return slices.Sorted(slices.Values(r.Imports))
	}
	return strings.Fields(`
		abc array base64 bisect calendar cmath collections copy dataclasses datetime decimal difflib enum fractions functools hashlib
		heapq hmac html itertools json math numbers random re statistics string textwrap time typing unicodedata urllib.parse uuid zlib`)
}
