package guest

import (
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

// Bounds on what a program may make us send besides its result. The server has the same ones: beyond them it takes the
// frame for a breach of the protocol, and nobody learns what went wrong.
const (
	maxMessage   = 16 << 10
	maxStackText = 64 << 10
	maxCallName  = 64
)

// bound shortens what a program says about its failure: an error's message can have millions of characters.
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
