package guest

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"

	"github.com/atelier-run/atelier/runtimes/goja/guest/gaps"
)

// goja ignores locales and options, or interprets the locale of a number as a radix. This package formats numbers and
// dates as Node does for en-US, its default. Other requests throw an error.

// options reads an options object. It rejects unknown options: the result would silently ignore them.
type options struct {
	vm     *goja.Runtime
	method string
	object *goja.Object
}

func newOptions(vm *goja.Runtime, method string, call goja.FunctionCall, known ...string) options {
	locale := call.Argument(0)
	if list, ok := locale.(*goja.Object); ok && kindOf(list) == arrayObject {
		locale = goja.Undefined()
		if first := list.Get("0"); first != nil {
			locale = first
		}
	}
	if !goja.IsUndefined(locale) && !gaps.KnownLocale(locale.String()) {
		panic(noLocale(vm, method, "the locale "+strconv.Quote(locale.String())))
	}
	o := options{vm: vm, method: method}
	if object, ok := call.Argument(1).(*goja.Object); ok {
		o.object = object
		for _, key := range object.Keys() {
			if !slices.Contains(known, key) && o.text(key) != "" {
				panic(noLocale(vm, method, "the option "+key))
			}
		}
	}
	return o
}

// text returns an option, or "" if it is not set.
func (o options) text(key string) string {
	if o.object == nil {
		return ""
	}
	if v := o.object.Get(key); v != nil && !goja.IsUndefined(v) {
		return v.String()
	}
	return ""
}

// one returns an option whose value must be one of the allowed words.
func (o options) one(key string, allowed ...string) string {
	text := o.text(key)
	if text != "" && !slices.Contains(allowed, text) {
		panic(noLocale(o.vm, o.method, key+": "+strconv.Quote(text)))
	}
	return text
}

func (o options) number(key string, otherwise, least, most int) int {
	text := o.text(key)
	if text == "" {
		return otherwise
	}
	n := int(o.object.Get(key).ToInteger())
	if n < least || n > most {
		panic(throw(o.vm, "RangeError", key+" value is out of range."))
	}
	return n
}

func patchNumbers(vm *goja.Runtime) {
	const name = "toLocaleString"
	method(vm, prototype(vm, "Number"), name, func(call goja.FunctionCall) goja.Value {
		return vm.ToValue(localNumber(newNumberOptions(vm, call), call.This.ToNumber()))
	})
	method(vm, prototype(vm, "BigInt"), name, func(call goja.FunctionCall) goja.Value {
		return vm.ToValue(localNumber(newNumberOptions(vm, call), call.This))
	})
}

func newNumberOptions(vm *goja.Runtime, call goja.FunctionCall) options {
	return newOptions(vm, "toLocaleString", call,
		"style", "currency", "minimumFractionDigits", "maximumFractionDigits", "minimumIntegerDigits", "maximumSignificantDigits", "useGrouping")
}

func localNumber(o options, value goja.Value) string {
	style := o.one("style", "decimal", "percent", "currency")
	symbol, digits := "", [2]int{0, 3}
	switch style {
	case "percent":
		digits = [2]int{0, 0}
	case "currency":
		symbol, digits = currency(o)
	}
	least := o.number("minimumFractionDigits", min(digits[0], o.number("maximumFractionDigits", 20, 0, 20)), 0, 20)
	most := o.number("maximumFractionDigits", max(digits[1], least), 0, 20)
	if least > most {
		panic(throw(o.vm, "RangeError", "maximumFractionDigits value is out of range."))
	}
	exact := new(big.Rat)
	if goja.IsBigInt(value) {
		exact.SetString(value.String())
	} else {
		f := value.ToFloat()
		switch {
		case math.IsNaN(f):
			return "NaN"
		case math.IsInf(f, 1):
			return symbol + "∞"
		case math.IsInf(f, -1):
			return "-" + symbol + "∞"
		}
		// ICU rounds the shortest decimal text of the number, so this code does too: 1.005 becomes 1.01, though its
		// double is smaller.
		exact.SetString(strconv.FormatFloat(f, 'g', -1, 64))
	}
	sign := ""
	if exact.Sign() < 0 || !goja.IsBigInt(value) && math.Signbit(value.ToFloat()) {
		sign = "-"
		exact.Neg(exact)
		if exact.Sign() < 0 {
			exact.Neg(exact)
		}
	}
	if style == "percent" {
		exact.Mul(exact, big.NewRat(100, 1))
	}
	if n := o.number("maximumSignificantDigits", 0, 1, 21); n > 0 {
		exact, least, most = significant(exact, n), 0, 20
	}
	text := exact.FloatString(most) // rounds half away from zero
	whole, fraction, _ := strings.Cut(text, ".")
	for len(fraction) > least && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	for n := o.number("minimumIntegerDigits", 1, 1, 21); len(whole) < n; {
		whole = "0" + whole
	}
	if grouping := o.text("useGrouping"); grouping != "false" {
		whole = grouped(whole)
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if style == "percent" {
		whole += "%"
	}
	return sign + symbol + whole
}

// significant rounds a value to n digits.
func significant(value *big.Rat, n int) *big.Rat {
	if value.Sign() == 0 {
		return value
	}
	scale := big.NewRat(1, 1)
	ten, limit := big.NewRat(10, 1), new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	floor := new(big.Rat).Quo(limit, ten)
	scaled := new(big.Rat).Set(value)
	for scaled.Cmp(limit) >= 0 {
		scaled.Quo(scaled, ten)
		scale.Mul(scale, ten)
	}
	for scaled.Cmp(floor) < 0 {
		scaled.Mul(scaled, ten)
		scale.Quo(scale, ten)
	}
	rounded, _ := new(big.Rat).SetString(scaled.FloatString(0))
	return rounded.Mul(rounded, scale)
}

func grouped(whole string) string {
	var out strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	return out.String()
}

func currency(o options) (symbol string, digits [2]int) {
	code := strings.ToUpper(o.text("currency"))
	if code == "" {
		panic(throw(o.vm, "TypeError", "Currency code is required with currency style."))
	}
	symbols := map[string]string{
		"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CNY": "CN¥", "KRW": "₩", "BRL": "R$", "MXN": "MX$", "CAD": "CA$",
		"AUD": "A$", "NZD": "NZ$", "ILS": "₪", "VND": "₫", "TWD": "NT$", "HKD": "HK$", "PHP": "₱",
	}
	digits = [2]int{2, 2}
	switch code {
	case "JPY", "KRW", "VND":
		digits = [2]int{0, 0}
	}
	if symbol, ok := symbols[code]; ok {
		return symbol, digits
	}
	for _, plain := range []string{"CHF", "NOK", "SEK", "DKK", "PLN", "CZK", "HUF", "TRY", "ZAR", "RUB", "SGD", "THB", "AED", "SAR"} {
		if code == plain {
			return code + "\u00a0", digits
		}
	}
	panic(noLocale(o.vm, o.method, "the currency "+strconv.Quote(code)))
}

func patchCompare(vm *goja.Runtime) {
	collators := map[string]*collate.Collator{}
	method(vm, prototype(vm, "String"), "localeCompare", func(call goja.FunctionCall) goja.Value {
		if goja.IsUndefined(call.This) || goja.IsNull(call.This) {
			panic(vm.NewTypeError("String.prototype.localeCompare called on null or undefined"))
		}
		collator := collatorOf(vm, call, collators)
		return vm.ToValue(collator.CompareString(call.This.String(), call.Argument(0).String()))
	})
}

// collatorOf returns the collator for the arguments of localeCompare. The default is the root order, which en-US also
// uses.
func collatorOf(vm *goja.Runtime, call goja.FunctionCall, collators map[string]*collate.Collator) *collate.Collator {
	const name = "localeCompare"
	locale := call.Argument(1)
	if list, ok := locale.(*goja.Object); ok && kindOf(list) == arrayObject {
		locale = goja.Undefined()
		if first := list.Get("0"); first != nil {
			locale = first
		}
	}
	o := options{vm: vm, method: name}
	if object, ok := call.Argument(2).(*goja.Object); ok {
		o.object = object
		for _, key := range object.Keys() {
			if !slices.Contains([]string{"sensitivity", "numeric", "usage"}, key) && o.text(key) != "" {
				panic(noLocale(vm, name, "the option "+key))
			}
		}
	}
	sensitivity := o.one("sensitivity", "base", "accent", "case", "variant")
	numeric := o.text("numeric") == "true"
	o.one("usage", "sort")
	tag := "und"
	if !goja.IsUndefined(locale) {
		tag = locale.String()
	}
	key := tag + " " + sensitivity + " " + strconv.FormatBool(numeric)
	if collator, ok := collators[key]; ok {
		return collator
	}
	order, ok := language.Und, true
	if tag != "und" {
		order, ok = gaps.Collation(tag)
	}
	if !ok {
		panic(throw(vm, "RangeError", "Incorrect locale information provided"))
	}
	var with []collate.Option
	switch sensitivity {
	case "base":
		with = append(with, collate.IgnoreCase, collate.IgnoreDiacritics)
	case "accent":
		with = append(with, collate.IgnoreCase)
	case "case":
		with = append(with, collate.IgnoreDiacritics)
	}
	if numeric {
		with = append(with, collate.Numeric)
	}
	collator := collate.New(order, with...)
	collators[key] = collator
	return collator
}
