package webui

import (
	"strconv"
	"strings"
)

// accepted reports whether an Accept-Encoding header accepts the given coding. The header must list the coding with a
// quality other than 0.
func accepted(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		q, given := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
		if !given {
			return true
		}
		quality, err := strconv.ParseFloat(q, 64)
		return err == nil && quality > 0
	}
	return false
}
