package guest

import (
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

// Maximum lengths, in bytes, of texts that a program sends in addition to its result. The server enforces the same
// limits. It treats a longer text as a protocol violation and then reports that instead of the program's error, so the
// guest truncates texts.
const (
	maxMessage   = 16 << 10
	maxStackText = 64 << 10
	maxCallName  = 64
	maxFieldText = 256
)

// bound truncates the texts of an error, because a program can throw an error with a message of millions of characters.
func bound(e *runtimes.ProgramError) {
	if e == nil {
		return
	}
	e.Message, e.Stack, e.Remedy = cut(e.Message, maxMessage), cut(e.Stack, maxStackText), cut(e.Remedy, maxMessage)
}

// cut shortens text to at most n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-len("…")], "") + "…"
}
