package registry

import (
	"regexp"
	"slices"
	"strings"
)

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// CheckVariable returns the reason why a name is not a valid name of an environment variable or a secret. It returns ""
// for a valid name.
func CheckVariable(name string) string {
	switch {
	case !variableForm.MatchString(name):
		return "must have at most 64 of A-Z, a-z, 0-9 and _, and must not start with a digit."
	case reservedVariable(name):
		return "is reserved; choose another name."
	}
	return ""
}

func reservedVariable(name string) bool {
	switch name {
	case "PATH", "HOME", "LANG", "TMPDIR", "INPUT", "INPUT_FILE", "OUTPUT":
		return true
	}
	if slices.Contains([]string{"http_proxy", "https_proxy", "no_proxy", "all_proxy"}, strings.ToLower(name)) {
		return true // the server sets these variables for the egress proxy
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "PYTHON") || strings.HasPrefix(name, "NODE_") ||
		strings.HasPrefix(name, "BASH") || name == "ENV" || name == "IFS" || name == "SHELLOPTS" || name == "PS4" ||
		name == "POSIXLY_CORRECT" || name == "POSIX_PEDANTIC" || strings.HasPrefix(name, "__atelier_")
}
