// Package pyhash hashes JSON like existing skill executors: SHA-256 of Python's json.dumps(value, sort_keys=True) for
// json.loads(text). Users of such hashes compare them byte for byte. Therefore separators, escapes, key order and float
// digits follow Python, even if some are odd.
package pyhash

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth limits nesting, because documents are read by recursion.
const maxDepth = 512

// Sum returns the hash of a JSON document in hexadecimal.
func Sum(text []byte) (string, error) {
	dumped, err := Dumps(text)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(dumped)
	return hex.EncodeToString(sum[:]), nil
}

// Dumps returns a JSON document as Python writes it, with sorted keys and in ASCII. It does not validate: the caller
// guarantees that the text is JSON, and only unreadable text is an error.
func Dumps(text []byte) ([]byte, error) {
	d := &dumper{text: text}
	out, err := d.value(make([]byte, 0, len(text)+len(text)/8), 0)
	if err != nil {
		return nil, err
	}
	if d.space(); d.at < len(d.text) {
		return nil, d.wrong()
	}
	return out, nil
}

// dumper reads a document from its start and rewrites it.
type dumper struct {
	text []byte
	at   int
}

var errDeep = errors.New("the document is nested too deeply")

func (d *dumper) wrong() error { return fmt.Errorf("the document is not valid JSON at byte %d", d.at) }

func (d *dumper) space() {
	for d.at < len(d.text) && strings.IndexByte(" \t\r\n", d.text[d.at]) >= 0 {
		d.at++
	}
}

func (d *dumper) take(c byte) bool {
	if d.space(); d.at < len(d.text) && d.text[d.at] == c {
		d.at++
		return true
	}
	return false
}

func (d *dumper) value(out []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	if d.space(); d.at >= len(d.text) {
		return nil, d.wrong()
	}
	switch d.text[d.at] {
	case '{':
		return d.object(out, depth)
	case '[':
		return d.array(out, depth)
	case '"':
		s, err := d.string()
		return appendString(out, s), err
	}
	for _, word := range []string{"null", "true", "false"} {
		if strings.HasPrefix(string(d.text[d.at:min(d.at+5, len(d.text))]), word) {
			d.at += len(word)
			return append(out, word...), nil
		}
	}
	return d.number(out)
}

func (d *dumper) array(out []byte, depth int) (_ []byte, err error) {
	d.at++
	out = append(out, '[')
	if d.take(']') {
		return append(out, ']'), nil
	}
	for {
		if out, err = d.value(out, depth+1); err != nil {
			return nil, err
		}
		if d.take(']') {
			return append(out, ']'), nil
		}
		if !d.take(',') {
			return nil, d.wrong()
		}
		out = append(out, ", "...)
	}
}

// object sorts keys by code point. Keys are stored in WTF-8, whose byte order equals code point order, including lone
// surrogates.
func (d *dumper) object(out []byte, depth int) ([]byte, error) {
	d.at++
	members := map[string][]byte{}
	for first := true; !d.take('}'); first = false {
		if !first && !d.take(',') {
			return nil, d.wrong()
		}
		if d.space(); d.at >= len(d.text) || d.text[d.at] != '"' {
			return nil, d.wrong()
		}
		key, err := d.string()
		if err != nil {
			return nil, err
		}
		if !d.take(':') {
			return nil, d.wrong()
		}
		value, err := d.value(nil, depth+1)
		if err != nil {
			return nil, err
		}
		members[string(key)] = value // the last value of a key counts, as in Python
	}
	keys := make([]string, 0, len(members))
	for key := range members {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	out = append(out, '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(appendString(out, []byte(key)), ": "...)
		out = append(out, members[key]...)
	}
	return append(out, '}'), nil
}

// number keeps integers of any size, and writes every other number as the double that Python reads.
func (d *dumper) number(out []byte) ([]byte, error) {
	start := d.at
	for d.at < len(d.text) && strings.IndexByte("+-.0123456789eE", d.text[d.at]) >= 0 {
		d.at++
	}
	literal := string(d.text[start:d.at])
	if literal == "" || literal == "-" {
		d.at = start
		return nil, d.wrong()
	}
	if !strings.ContainsAny(literal, ".eE") {
		if literal == "-0" {
			return append(out, '0'), nil
		}
		if _, ok := new(big.Int).SetString(literal[:min(len(literal), 20)], 10); !ok {
			d.at = start
			return nil, d.wrong()
		}
		return append(out, literal...), nil
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		d.at = start
		return nil, d.wrong()
	}
	return appendFloat(out, f), nil
}

// appendFloat writes a double like Python's repr, with the fewest digits that read back as the same value. Values
// between 1e-4 and 1e16 have no exponent; the exponent of other values has a sign and at least two digits.
func appendFloat(out []byte, f float64) []byte {
	scientific := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, found := strings.Cut(scientific, "e")
	if !found { // larger than the largest double
		if f > 0 {
			return append(out, "Infinity"...)
		}
		return append(out, "-Infinity"...)
	}
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

// string reads a string into WTF-8. That is UTF-8 in which a lone surrogate, which JSON can contain and Python keeps,
// is encoded in three bytes.
func (d *dumper) string() ([]byte, error) {
	d.at++
	var s []byte
	for d.at < len(d.text) {
		c := d.text[d.at]
		switch {
		case c == '"':
			d.at++
			return s, nil
		case c == '\\':
			unit, err := d.escape()
			if err != nil {
				return nil, err
			}
			s = d.appendUnit(s, unit)
		case c < 0x20:
			return nil, d.wrong()
		case c < utf8.RuneSelf:
			s = append(s, c)
			d.at++
		default:
			r, size := utf8.DecodeRune(d.text[d.at:])
			if r == utf8.RuneError && size == 1 {
				return nil, d.wrong()
			}
			s = append(s, d.text[d.at:d.at+size]...)
			d.at += size
		}
	}
	return nil, d.wrong()
}

// appendUnit adds a UTF-16 unit; a high surrogate consumes the low surrogate that follows as an escape.
func (d *dumper) appendUnit(s []byte, unit rune) []byte {
	if unit >= 0xd800 && unit < 0xdc00 && d.at+1 < len(d.text) && d.text[d.at] == '\\' && d.text[d.at+1] == 'u' {
		back := d.at
		if low, err := d.escape(); err == nil && low >= 0xdc00 && low < 0xe000 {
			return utf8.AppendRune(s, (unit-0xd800)<<10+(low-0xdc00)+0x10000)
		}
		d.at = back
	}
	if unit >= 0xd800 && unit < 0xe000 {
		return append(s, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0x3f, 0x80|byte(unit)&0x3f)
	}
	return utf8.AppendRune(s, unit)
}

func (d *dumper) escape() (rune, error) {
	d.at++
	if d.at >= len(d.text) {
		return 0, d.wrong()
	}
	c := d.text[d.at]
	d.at++
	if at := strings.IndexByte(`"\/bfnrt`, c); at >= 0 {
		return rune("\"\\/\b\f\n\r\t"[at]), nil
	}
	if c != 'u' || d.at+4 > len(d.text) {
		return 0, d.wrong()
	}
	unit, err := strconv.ParseUint(string(d.text[d.at:d.at+4]), 16, 16)
	if err != nil {
		return 0, d.wrong()
	}
	d.at += 4
	return rune(unit), nil
}

// appendString writes WTF-8 like Python: printable ASCII unchanged, and everything else as lower-case escapes.
func appendString(out, s []byte) []byte {
	out = append(out, '"')
	for len(s) > 0 {
		if c := s[0]; c < utf8.RuneSelf {
			out = appendASCII(out, c)
			s = s[1:]
			continue
		}
		r, size := utf8.DecodeRune(s)
		if r == utf8.RuneError && size == 1 { // lone surrogate
			r, size = rune(s[0]&0x0f)<<12|rune(s[1]&0x3f)<<6|rune(s[2]&0x3f), 3
		}
		if r >= 0x10000 {
			out = appendUnicode(appendUnicode(out, 0xd800+(r-0x10000)>>10), 0xdc00+(r-0x10000)&0x3ff)
		} else {
			out = appendUnicode(out, r)
		}
		s = s[size:]
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
