package gaps

import (
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// KnownCollation says whether there is an order of text for a locale.
func KnownCollation(tag string) bool {
	_, ok := Collation(tag)
	return ok
}

// Collation answers the language by whose order text is compared: the locale itself, or the root order that its
// language shares.
func Collation(tag string) (language.Tag, bool) {
	wanted, err := language.Parse(tag)
	if err != nil {
		return language.Und, false
	}
	supported := collate.Supported()
	_, index, confidence := language.NewMatcher(supported).Match(wanted)
	if confidence < language.High {
		return language.Und, true // ICU falls back to the root order as well
	}
	return supported[index], true
}
