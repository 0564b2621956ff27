package guest

import (
	"math/big"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// bindLocale provides native functions to patch.js. They format numbers and compare texts for the locale en-US. For
// other locales and options patch.js throws an error, because a result for en-US would be wrong.
func bindLocale(vm *goja.Runtime, native *goja.Object) {
	method(vm, native, "decimal", func(call goja.FunctionCall) goja.Value {
		return vm.ToValue(decimal(call.Argument(0).String(), int(call.Argument(1).ToInteger()), int(call.Argument(2).ToInteger())))
	})
	collators := map[string]*collate.Collator{}
	method(vm, native, "compare", func(call goja.FunctionCall) goja.Value {
		sensitivity, numeric := call.Argument(2).String(), call.Argument(3).ToBoolean()
		key := sensitivity
		if numeric {
			key += " numeric"
		}
		if collators[key] == nil {
			collators[key] = newCollator(sensitivity, numeric)
		}
		return vm.ToValue(collators[key].CompareString(call.Argument(0).String(), call.Argument(1).String()))
	})
}

// decimal writes a number with groups of three digits and between least and most digits after the point. It rounds the
// shortest decimal text of the number, as ICU does: 1.005 becomes 1.01, though its double is smaller.
func decimal(text string, least, most int) string {
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return text // NaN
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
		exact.Abs(exact)
	}
	whole, fraction, _ := strings.Cut(exact.FloatString(most), ".") // rounds half away from zero
	for len(fraction) > least && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	var out strings.Builder
	out.WriteString(sign)
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	if fraction != "" {
		out.WriteString("." + fraction)
	}
	return out.String()
}

// newCollator returns a collator of the root order, which en-US also uses.
func newCollator(sensitivity string, numeric bool) *collate.Collator {
	var options []collate.Option
	switch sensitivity {
	case "base":
		options = append(options, collate.IgnoreCase, collate.IgnoreDiacritics)
	case "accent":
		options = append(options, collate.IgnoreCase)
	case "case":
		options = append(options, collate.IgnoreDiacritics)
	}
	if numeric {
		options = append(options, collate.Numeric)
	}
	return collate.New(language.Und, options...)
}
