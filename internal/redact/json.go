package redact

import (
	"bytes"
	"encoding/json"
)

// JSON redacts the values in a JSON document. It searches each number and each string, including the escapes in
// strings. All other bytes stay unchanged.
func (m *Redactor) JSON(document json.RawMessage) json.RawMessage {
	if m == nil || len(document) == 0 {
		return document
	}
	out := make([]byte, 0, len(document))
	for i := 0; i < len(document); {
		end := i + 1
		switch c := document[i]; {
		case c == '"':
			end = stringEnd(document, i)
			out = append(out, m.quoted(document[i:end])...)
		case c == '-' || c >= '0' && c <= '9':
			for end < len(document) && bytes.IndexByte([]byte("+-.0123456789Ee"), document[end]) >= 0 {
				end++
			}
			out = append(out, m.number(document[i:end])...)
		default:
			out = append(out, c)
		}
		i = end
	}
	return out
}

// stringEnd returns the end of the string that begins at a position.
func stringEnd(document []byte, from int) int {
	for i := from + 1; i < len(document); i++ {
		switch document[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(document)
}

func (m *Redactor) quoted(literal []byte) []byte {
	var text string
	if json.Unmarshal(literal, &text) != nil {
		return []byte(`"` + Stars + `"`) // the string cannot be decoded
	}
	redacted := m.Text(text)
	if redacted == text {
		return literal
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(redacted) // encoding a string never fails
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (m *Redactor) number(literal []byte) []byte {
	if text := string(literal); m.Text(text) != text {
		return []byte(`"` + Stars + `"`)
	}
	return literal
}
