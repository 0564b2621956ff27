package guest

import (
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

// These bounds limit what a program can send besides its result. The server has the same bounds. It treats a larger
// frame as a breach of the protocol, and the actual error would be lost.
const (
	maxMessage   = 16 << 10
	maxStackText = 64 << 10
	maxCallName  = 64
	maxFieldText = 256
)

// bound shortens the texts of an error: a message can have millions of characters.
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
