package cli

import "bytes"

// EscapeJSON is what the tests look at.
var EscapeJSON = escapeJSON

// Tame returns what is written of chunks.
func Tame(colours bool, chunks ...string) string {
	var out bytes.Buffer
	w := newTame(&out, colours)
	for _, chunk := range chunks {
		w.write(chunk)
	}
	w.end()
	return out.String()
}
