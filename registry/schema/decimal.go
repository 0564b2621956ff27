package schema

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
)

// decimal is an exact decimal number: 0.digits × 10^exponent. digits has no zeros at either end; for the number zero it
// is "". A comparison needs no arithmetic, so its cost depends only on the length of the texts. This is also true for
// 1e300 and for numbers with a million digits.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// hugeExponent is the largest absolute value of an exponent. It replaces larger exponents. A number with such a
// negative exponent is almost zero, and a schema with such an exponent is rejected.
const hugeExponent = 1 << 40

// parseDecimal parses a JSON number. It also reports whether the exponent is small enough for arithmetic.
func parseDecimal(literal string) (decimal, bool) {
	var d decimal
	literal, d.negative = strings.CutPrefix(literal, "-")
	mantissa, power := literal, ""
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa, power = literal[:i], literal[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.digits = strings.TrimLeft(whole, "0")
	d.exponent = len(d.digits)
	if fraction != "" {
		all := whole + fraction
		d.digits = strings.TrimLeft(all, "0")
		d.exponent = len(whole) - (len(all) - len(d.digits))
	}
	d.digits = strings.TrimRight(d.digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	d.exponent += exponentOf(power)
	return d, d.exponent <= maxNumber && d.exponent >= -maxNumber
}

func exponentOf(power string) int {
	if power == "" {
		return 0
	}
	n, err := strconv.Atoi(power)
	switch {
	case err == nil && n <= hugeExponent && n >= -hugeExponent:
		return n
	case power[0] == '-':
		return -hugeExponent
	}
	return hugeExponent
}

func (d decimal) isInteger() bool { return d.exponent >= len(d.digits) }

func (d decimal) compare(other decimal) int {
	switch {
	case d.sign() != other.sign():
		return cmp.Compare(d.sign(), other.sign())
	case d.negative:
		return other.compareSize(d)
	}
	return d.compareSize(other)
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d decimal) compareSize(other decimal) int {
	if d.exponent != other.exponent {
		return cmp.Compare(d.exponent, other.exponent)
	}
	return strings.Compare(d.digits, other.digits)
}

// key returns a string that is equal for two numbers only if the numbers are equal.
func (d decimal) key() string {
	sign := "+"
	if d.negative {
		sign = "-"
	}
	return sign + d.digits + "e" + strconv.Itoa(d.exponent)
}

// multipleOf reports whether d is a multiple of step. known is false if the calculation would need too many digits.
func (d decimal) multipleOf(step decimal) (fits, known bool) {
	if d.digits == "" {
		return true, true
	}
	n, ok1 := d.rat()
	by, ok2 := step.rat()
	if !ok1 || !ok2 || by.Sign() == 0 {
		return false, false
	}
	return n.Quo(n, by).IsInt(), true
}

func (d decimal) rat() (*big.Rat, bool) {
	if len(d.digits) > maxNumber || d.exponent > maxNumber || d.exponent < -maxNumber {
		return nil, false
	}
	return new(big.Rat).SetString(d.String())
}

// String returns the number in a readable form, such as 12.5, -0.001 or 1e+40.
func (d decimal) String() string {
	sign := ""
	if d.negative {
		sign = "-"
	}
	const readable = 21
	switch {
	case d.digits == "":
		return "0"
	case d.exponent > readable || d.exponent < -5 || len(d.digits) > maxNumber:
		return sign + "0." + d.digits + "e" + strconv.Itoa(d.exponent)
	case d.exponent <= 0:
		return sign + "0." + strings.Repeat("0", -d.exponent) + d.digits
	case d.isInteger():
		return sign + d.digits + strings.Repeat("0", d.exponent-len(d.digits))
	}
	return sign + d.digits[:d.exponent] + "." + d.digits[d.exponent:]
}

// ratDecimal converts a number of a schema from the library's type to a decimal.
func ratDecimal(r *big.Rat) *decimal {
	if r == nil {
		return nil
	}
	n, _ := r.FloatPrec()
	d, _ := parseDecimal(r.FloatString(n))
	return &d
}
