// Package pyhash computes the same hash of a JSON document as existing skill executors: the SHA-256 of Python's
// json.dumps(json.loads(text), sort_keys=True). Clients compare these hashes with the hashes of other executors. So
// separators, escapes, key order and the digits of floats must be exactly as in Python.
package pyhash

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/jcs"
)

// Sum returns the hash of a JSON document in hexadecimal.
func Sum(text []byte) (string, error) {
	dumped, err := Dumps(text)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(dumped)
	return hex.EncodeToString(sum[:]), nil
}

// Dumps returns a JSON document as Python's json.dumps writes it, with sorted keys and in ASCII. It rejects the same
// documents as package jcs.
func Dumps(text []byte) ([]byte, error) {
	value, err := jcs.Decode(text, jcs.Limits{})
	if err != nil {
		return nil, err
	}
	return appendValue(make([]byte, 0, len(text)+len(text)/8), value), nil
}

func appendValue(out []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		return strconv.AppendBool(out, v)
	case json.Number:
		return appendNumber(out, string(v))
	case string:
		return appendString(out, v)
	case []any:
		out = append(out, '[')
		for i, item := range v {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = appendValue(out, item)
		}
		return append(out, ']')
	case map[string]any:
		out = append(out, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) { // the order of UTF-8 bytes is the order of code points, by which Python sorts
			if i > 0 {
				out = append(out, ", "...)
			}
			out = append(appendString(out, key), ": "...)
			out = appendValue(out, v[key])
		}
		return append(out, '}')
	}
	return out
}

// appendNumber writes an integer of any size unchanged. It writes any other number in the same way as Python, which
// reads it as a double.
func appendNumber(out []byte, literal string) []byte {
	if literal == "-0" {
		return append(out, '0')
	}
	if !strings.ContainsAny(literal, ".eE") {
		return append(out, literal...)
	}
	f, _ := strconv.ParseFloat(literal, 64) // the number is in range, because jcs has checked it
	return appendFloat(out, f)
}

// appendFloat writes a double in the same way as Python's repr: with the fewest digits that read back as the same
// value. Values between 1e-4 and 1e16 have no exponent. The exponent of other values has a sign and at least two
// digits.
func appendFloat(out []byte, f float64) []byte {
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(scientific, "e")
	if power, err := strconv.Atoi(exponent); err == nil && (power < -4 || power >= 16) {
		return append(append(append(out, mantissa...), 'e'), exponent...)
	}
	plain := strconv.FormatFloat(f, 'f', -1, 64)
	out = append(out, plain...)
	if !strings.Contains(plain, ".") {
		out = append(out, ".0"...)
	}
	return out
}

// appendString writes a string in the same way as Python: printable ASCII unchanged, and all other characters as
// lower-case escapes.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			out = appendASCII(out, byte(r))
		case r >= 0x10000:
			high, low := utf16.EncodeRune(r)
			out = appendUnicode(appendUnicode(out, high), low)
		default:
			out = appendUnicode(out, r)
		}
	}
	return append(out, '"')
}

func appendASCII(out []byte, c byte) []byte {
	if at := strings.IndexByte("\"\\\b\f\n\r\t", c); at >= 0 {
		return append(out, '\\', `"\bfnrt`[at])
	}
	if c < ' ' || c == 0x7f {
		return appendUnicode(out, rune(c))
	}
	return append(out, c)
}

func appendUnicode(out []byte, unit rune) []byte {
	return fmt.Appendf(out, "\\u%04x", unit)
}
