package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// quoted encodes sentences as JSON strings in ASCII, for a header that may occur several times. Clients join such
// headers with commas, and sentences contain commas too; JSON strings keep the sentences apart. ASCII is needed because
// clients decode other characters differently.
func quoted(sentences []string) ([]string, error) {
	all := make([]string, 0, len(sentences))
	for _, sentence := range sentences {
		text, err := json.Marshal(sentence)
		if err != nil {
			return nil, err
		}
		var ascii strings.Builder
		for _, r := range string(text) {
			switch {
			case r < 0x80:
				ascii.WriteRune(r)
			case r <= 0xffff:
				fmt.Fprintf(&ascii, `\u%04x`, r)
			default:
				high, low := utf16.EncodeRune(r)
				fmt.Fprintf(&ascii, `\u%04x\u%04x`, high, low)
			}
		}
		all = append(all, ascii.String())
	}
	return all, nil
}
