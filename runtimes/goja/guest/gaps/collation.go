package gaps

import (
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// KnownCollation reports whether a collation order exists for a locale.
func KnownCollation(tag string) bool {
	_, ok := Collation(tag)
	return ok
}

// Collation returns the language whose order applies to a locale: the locale itself, or the root language if it uses
// the root order.
func Collation(tag string) (language.Tag, bool) {
	wanted, err := language.Parse(tag)
	if err != nil {
		return language.Und, false
	}
	supported := collate.Supported()
	_, index, confidence := language.NewMatcher(supported).Match(wanted)
	if confidence < language.High {
		return language.Und, true // ICU also falls back to the root order
	}
	return supported[index], true
}
