package schema

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// format is a format that documents are checked against. Other formats (iri, uri-template, idn-email, custom formats)
// are only annotations, because an unreliable check would be worse than no check.
type format struct {
	check func(any) error // the library's check
	wants string
}

func formatOf(f *jsonschema.Format) *format {
	if f == nil {
		return nil
	}
	wants, ok := asserted()[f.Name]
	if !ok {
		return nil
	}
	check := f.Validate
	switch f.Name {
	case "uri", "uri-reference":
		check = func(v any) error { return errors.Join(uriCharacters(v), f.Validate(v)) }
	case "email":
		check = func(v any) error { return errors.Join(emailName(v), f.Validate(v)) }
	case "ipv4":
		check = ipv4
	}
	return &format{check: check, wants: wants}
}

// Asserts reports whether documents are checked against a format of this name.
func Asserts(name string) bool {
	_, ok := asserted()[name]
	return ok
}

// asserted returns the message for each format that documents are checked against.
func asserted() map[string]string {
	return map[string]string{
		"date":                  "must be a date, for example 2026-11-30",
		"date-time":             "must be a date and time, for example 2026-11-30T12:00:00Z",
		"time":                  "must be a time, for example 12:00:00Z",
		"duration":              "must be a duration, for example P1DT12H",
		"email":                 "must be an email address",
		"uri":                   "must be an absolute URI, for example https://example.com/path",
		"uri-reference":         "must be a URI or a relative reference, for example ../path",
		"uuid":                  "must be a UUID",
		"ipv4":                  "must be an IPv4 address",
		"ipv6":                  "must be an IPv6 address",
		"hostname":              "must be a host name",
		"json-pointer":          "must be a JSON pointer, for example /a/0",
		"relative-json-pointer": "must be a relative JSON pointer, for example 1/a",
		"regex":                 "must be a regular expression",
	}
}

var errFormat = errors.New("must have the format")

// problem returns the problem of a text, or "" if the text has the format.
func (f *format) problem(text string) string {
	err := f.check(text)
	if err == nil {
		return ""
	}
	var pattern patternError
	if errors.As(err, &pattern) { // the text is a pattern of a schema, so the message must explain how to fix it
		return pattern.Error()
	}
	return f.wants
}

// uriCharacters rejects characters that RFC 3986 forbids and net/url accepts: spaces, quotes, and brackets in a path.
func uriCharacters(v any) error {
	text, _ := v.(string)
	const fine = "-._~:/?#[]@!$&'()*+,;=%"
	for _, c := range []byte(text) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		if !letter && !digit && strings.IndexByte(fine, c) < 0 {
			return errFormat
		}
	}
	_, rest, hasAuthority := strings.Cut(text, "//")
	if !hasAuthority {
		rest = "/" + text
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 && strings.ContainsAny(rest[i:], "[]") {
		return errFormat
	}
	return nil
}

func emailName(v any) error {
	if text, _ := v.(string); strings.HasPrefix(text, "@") {
		return errFormat
	}
	return nil
}

func ipv4(v any) error {
	text, _ := v.(string)
	if address, err := netip.ParseAddr(text); err != nil || !address.Is4() {
		return errFormat
	}
	return nil
}
