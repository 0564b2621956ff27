package e2b

import (
	"strings"

	"github.com/atelier-run/atelier/internal/hostpattern"
)

// Name returns a granted host as E2B's list of allowed destinations has it, "" if E2B cannot grant it.
func Name(grant hostpattern.Grant) string {
	text := grant.String()
	at := strings.LastIndexByte(text, ':')
	if at < 0 || text[at+1:] != "80" && text[at+1:] != "443" || strings.HasPrefix(text, "[") {
		return ""
	}
	return text[:at]
}
