// Package jcs writes JSON in the canonical form of RFC 8785. It also computes the digests that identify versions,
// inputs and outputs. The package is the first check of untrusted documents. One pass checks depth, size, encoding and
// duplicate keys, and allocates no values.
//
// One deviation from RFC 8785 is deliberate. The RFC reads every number as a double. So 9007199254740993 and
// 9007199254740992 would have the same digest, although programs can distinguish these integers. Here, an integer
// literal (no fraction, no exponent) keeps its digits. Other numbers are written as ECMAScript writes doubles.
package jcs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/atelier-run/atelier/internal/bytesize"
)

// MaxDepth is the maximum nesting of arrays and objects in a document that has a canonical form.
const MaxDepth = 256

// Limits limits a document. A field that is 0 sets no limit, but the depth is never more than MaxDepth.
type Limits struct {
	Depth int // maximum nesting of arrays and objects; a flat object has depth 1
	Bytes int
	// Digits is the maximum number of digits of one number. Python needs quadratic time to read the digits of an integer.
	Digits int
	// Count is called regularly and at the end, with the number of values and names that were read. If it returns an
	// error, the check ends.
	Count func(values int) error
}

// Document is a parsed document with its canonical form.
type Document struct {
	Value     any    // nil, bool, json.Number, string, []any or map[string]any
	Canonical []byte // canonical form
}

// JSON returns the canonical form of a document. It returns an *Error if Check without limits would reject the
// document.
func JSON(raw []byte) ([]byte, error) {
	s := scanner{in: raw, depth: MaxDepth, write: true, out: make([]byte, 0, len(raw))}
	if _, err := s.document(); err != nil {
		return nil, err
	}
	return s.out, nil
}

// Parse checks a document in the same way as Check. It returns the value and the canonical form of the document.
func Parse(raw []byte, limits Limits) (Document, error) {
	s := scanner{in: raw, build: true, write: true}
	value, err := s.within(limits)
	return Document{Value: value, Canonical: s.out}, err
}

// Tidy writes a document in one line, without spaces between values and with as few escapes as possible. It keeps the
// order of names and the digits of numbers. The document must be one that Check accepts.
func Tidy(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	s := scanner{in: raw}
	for s.pos < len(raw) {
		switch c := raw[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		case '"':
			text, err := s.text()
			if err != nil { // the text is not a valid document
				return raw
			}
			out = appendString(out, text)
		default:
			out = append(out, c)
			s.pos++
		}
	}
	return out
}

// Decode checks a document in the same way as Check, and returns its value.
func Decode(raw []byte, limits Limits) (any, error) {
	s := scanner{in: raw, build: true}
	return s.within(limits)
}

// Check returns an *Error unless raw is exactly one JSON document within the limits. It rejects invalid UTF-8, lone
// surrogates, duplicate keys in an object and text after the value. It also rejects numbers outside the range of a
// double, except integer literals. JSON can write the canonical form of every document that Check accepts.
func Check(raw []byte, limits Limits) error {
	s := scanner{in: raw}
	_, err := s.within(limits)
	return err
}

func (s *scanner) within(limits Limits) (any, error) {
	if limits.Bytes > 0 && len(s.in) > limits.Bytes {
		return nil, &Error{Reason: TooLarge, Message: "is larger than the limit of " + bytesize.Text(limits.Bytes)}
	}
	s.depth, s.most, s.count = MaxDepth, limits.Digits, limits.Count
	if limits.Depth > 0 && limits.Depth < MaxDepth {
		s.depth = limits.Depth
	}
	value, err := s.document()
	if err != nil {
		return nil, err
	}
	return value, nil
}

// Digest returns "sha256:" and the hexadecimal SHA-256 of the document's canonical form.
func Digest(raw []byte) (string, error) {
	text, err := JSON(raw)
	if err != nil {
		return "", err
	}
	return Sum(text), nil
}

// DigestValue encodes v with encoding/json and returns the digest of the result. Strings in v must be valid UTF-8.
// encoding/json replaces invalid bytes, so two different values could have the same digest.
func DigestValue(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest a %T: %w", v, err)
	}
	return Digest(raw)
}

// Sum returns "sha256:" and the hexadecimal SHA-256 of the bytes.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
