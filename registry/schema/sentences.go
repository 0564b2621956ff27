package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/atelier-run/atelier/internal/fault"
)

func detail(code, message string) fault.Detail { return fault.Detail{Code: code, Message: message} }

// text lists the types in words, for example "a string, a number or null".
func (t typeSet) text() string {
	if t&typeNumber != 0 {
		t &^= typeInteger
	}
	var names []string
	for _, known := range []struct {
		types typeSet
		name  string
	}{
		{typeString, "a string"}, {typeNumber, "a number"}, {typeInteger, "an integer"}, {typeBoolean, "a boolean"},
		{typeObject, "an object"}, {typeArray, "an array"}, {typeNull, "null"},
	} {
		if t&known.types != 0 {
			names = append(names, known.name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// maxListed is the maximum length of a list of allowed values in bytes.
const maxListed = 300

// listValues lists the values that a schema allows in words. It omits values beyond maxListed bytes.
func listValues(values []any) string {
	var b strings.Builder
	for i, value := range values {
		text := shownValue(value)
		if b.Len()+len(text) > maxListed {
			return b.String() + strings.Repeat(", ", min(i, 1)) + "…"
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text)
	}
	return b.String()
}

func shownValue(value any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return "…"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxName is the maximum length of a property's name in a message, in bytes.
const maxName = 100

// shown returns a property's name without unsafe characters and shortened, because the name may come from an untrusted
// document.
func shown(name string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\ufffd'
	}, cut(name, maxName))
	return clean
}

// cut shortens a text to a number of bytes, at a character boundary.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for i := range text {
		if i > most-4 {
			return text[:i] + "…"
		}
	}
	return text
}

func quantity(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}

func plural(n int, noun string) string { return quantity(n, noun, noun+"s") }
