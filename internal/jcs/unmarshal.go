package jcs

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
)

// mostRewritten is the maximum number of numbers that Unmarshal rewrites. longestNumber is the maximum length in bytes
// of a number that it rewrites.
const (
	mostRewritten = 64
	longestNumber = 40
)

// Unmarshal is like json.Unmarshal, but also decodes numbers such as 1.0 and 1e3 into Go integers. JSON Schema treats
// such numbers as integers.
func Unmarshal(data []byte, into any) error {
	for range mostRewritten {
		err := json.Unmarshal(data, into)
		var wrong *json.UnmarshalTypeError
		if !errors.As(err, &wrong) {
			return err
		}
		text, isNumber := strings.CutPrefix(wrong.Value, "number ")
		start := int(wrong.Offset) - len(text)
		if !isNumber || start < 0 || len(text) > longestNumber || string(data[start:wrong.Offset]) != text {
			return err
		}
		whole := integer(text)
		if whole == "" || whole == text {
			return err
		}
		data = slices.Concat(data[:start], []byte(whole), data[wrong.Offset:])
	}
	return json.Unmarshal(data, into)
}

// integer returns a number in a form without fraction and exponent. It returns "" if the number has a fraction or does
// not fit into 64 bits.
func integer(text string) string {
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok && len(strings.TrimLeft(exponent, "+-0")) > 2 {
		return ""
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok || !n.IsInt() || !n.Num().IsInt64() {
		return ""
	}
	return n.Num().String()
}
