package jcs

import (
	"math"
	"strconv"
)

// safeLiteral is a length in bytes. A literal of at most this length without an exponent is always within the range of
// a double, so only longer literals are checked.
const safeLiteral = 300

func (s *scanner) number() *Error {
	start := s.pos
	integer := true
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return s.syntax()
	}
	exponent := false
	if s.peek() == '.' {
		s.pos++
		integer = false
		if !s.digits() {
			return s.syntax()
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		integer, exponent = false, true
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.syntax()
		}
	}
	literal := s.in[start:s.pos]
	if s.most > 0 && len(literal) > s.most && countDigits(literal) > s.most {
		return s.fail(BadNumber, "is a number of more than "+strconv.Itoa(s.most)+" digits")
	}
	if integer {
		s.integer(literal)
		return nil
	}
	if !s.write && !exponent && len(literal) < safeLiteral {
		return nil
	}
	return s.double(literal)
}

func (s *scanner) digits() bool {
	start := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > start
}

func countDigits(literal []byte) (n int) {
	for _, c := range literal {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// integer copies the digits unchanged. JSON forbids leading zeros, so only zero has a second form, which is -0.
func (s *scanner) integer(literal []byte) {
	if !s.write {
		return
	}
	if len(literal) == 2 && literal[0] == '-' && literal[1] == '0' {
		literal = literal[1:]
	}
	s.out = append(s.out, literal...)
}

func (s *scanner) double(literal []byte) *Error {
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil || math.IsInf(f, 0) {
		return s.fail(BadNumber, "has a number that is too large for a double")
	}
	if s.write {
		s.out = appendDouble(s.out, f)
	}
	return nil
}

// appendDouble writes a finite double as ECMAScript's Number::toString does.
func appendDouble(out []byte, f float64) []byte {
	if f == 0 {
		return append(out, '0') // the number 0, or -0
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	if n := len(out); out[n-2] == '0' && (out[n-3] == '-' || out[n-3] == '+') {
		out[n-2] = out[n-1] // ECMAScript writes e-9 where Go writes e-09
		out = out[:n-1]
	}
	return out
}
