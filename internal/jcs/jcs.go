// Package jcs gives one text to one JSON value: the canonical form of RFC 8785, and the digests over it that name
// versions, inputs and outputs. It is also the wall that a hostile document meets first: depth, size, encoding and
// duplicate keys are checked in one pass that builds nothing.
//
// One deviation from RFC 8785 is deliberate. The RFC reads every number as a double, which would give 9007199254740993
// and 9007199254740992 the same digest; programs here keep the digits of big integers, so their digests must too. An
// integer literal (no fraction, no exponent) keeps its digits. Other numbers are written as ECMAScript writes doubles.
package jcs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/atelier-run/atelier/internal/bytesize"
)

// MaxDepth is how deep arrays and objects may be nested in a document that is made canonical.
const MaxDepth = 256

// Limits bounds a document; zero fields do not, except that Depth is never more than MaxDepth.
type Limits struct {
	Depth int // of nested arrays and objects; a document of one flat object has depth 1
	Bytes int
	// Digits of one number. Python takes quadratic time to read the digits of an integer.
	Digits int
}

// JSON returns the canonical form of a document. It fails where Check fails with no limits; the error is an *Error.
func JSON(raw []byte) ([]byte, error) {
	s := scanner{in: raw, depth: MaxDepth, write: true, out: make([]byte, 0, len(raw))}
	if err := s.document(); err != nil {
		return nil, err
	}
	return s.out, nil
}

// Check tells whether raw is one JSON document within the limits: UTF-8 without lone surrogates, no key twice in an
// object, no number beyond a double other than integer literals, nothing after the value. The error is an *Error. What
// it accepts, JSON makes canonical.
func Check(raw []byte, limits Limits) error {
	if limits.Bytes > 0 && len(raw) > limits.Bytes {
		return &Error{Reason: TooLarge, Message: "is larger than the limit of " + bytesize.Text(limits.Bytes)}
	}
	s := scanner{in: raw, depth: MaxDepth, most: limits.Digits}
	if limits.Depth > 0 && limits.Depth < MaxDepth {
		s.depth = limits.Depth
	}
	if err := s.document(); err != nil {
		return err
	}
	return nil
}

// Digest returns "sha256:" and the hexadecimal SHA-256 of a document's canonical form.
func Digest(raw []byte) (string, error) {
	text, err := JSON(raw)
	if err != nil {
		return "", err
	}
	return Sum(text), nil
}

// DigestValue returns the digest of what encoding/json makes of v. Strings in v must be UTF-8: encoding/json replaces
// other bytes, so that two values could share a digest.
func DigestValue(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("digest a %T: %w", v, err)
	}
	return Digest(raw)
}

// Sum returns "sha256:" and the hexadecimal SHA-256 of bytes as they are.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
