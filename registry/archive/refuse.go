package archive

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/atelier-run/atelier/internal/fault"
)

func invalid(format string, args ...any) error {
	return fault.New(fault.InvalidInput, "%s", "The archive "+fmt.Sprintf(format, args...)+".")
}

// broken is a stream that cannot be read as what it should be; what a layer above has said already stays.
func broken(err error) error {
	var told *fault.Error
	if errors.As(err, &told) {
		return told
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The archive is damaged, cut off or none.", Err: err}
}

// shown makes a name from an archive fit for a message.
func shown(name string) string {
	const most = 120
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\ufffd'
	}, name)
}
