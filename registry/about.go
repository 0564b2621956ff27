package registry

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
)

// These constants limit the size of an agent's description.
const (
	maxTitle       = 200
	maxDescription = 4000
	maxTags        = 20
	maxTag         = 50
	maxMetadata    = 16 << 10
)

// MaxWords is the maximum length in bytes of a text that a person writes about a version: its changelog, a comment or a
// reason.
const MaxWords = 10_000

// CheckAbout checks an agent's name, title, description, tags and metadata before they are saved. The error names the
// field.
func CheckAbout(a Agent) error {
	switch {
	case len(a.Title) > maxTitle:
		return fault.Invalid("/title", "must have at most %d bytes.", maxTitle)
	case len(a.Description) > maxDescription:
		return fault.Invalid("/description", "must have at most %d bytes.", maxDescription)
	case len(a.Tags) > maxTags:
		return fault.Invalid("/tags", "must have at most %d tags.", maxTags)
	case len(a.Metadata) > maxMetadata || len(a.Metadata) == 0 || a.Metadata[0] != '{':
		return fault.Invalid("/metadata", "must be an object of at most %s.", bytesize.Text(maxMetadata))
	}
	for field, text := range map[string]string{"/title": a.Title, "/description": a.Description, "/tags": strings.Join(a.Tags, " ")} {
		if err := CheckText(field, text); err != nil {
			return err
		}
	}
	for _, tag := range a.Tags {
		if tag == "" || len(tag) > maxTag {
			return fault.Invalid("/tags", "must contain tags of 1 to %d bytes.", maxTag)
		}
	}
	return CheckName(a.Name)
}

// CheckWords checks the changelog, comments and reasons of an imported version. The error names the field. Texts that
// people write on this server are checked when they are entered.
func CheckWords(v Version) error {
	comment, accepted := "", ""
	if v.Override != nil {
		comment = v.Override.Comment
	}
	if v.Regressions != nil {
		accepted = v.Regressions.Comment
	}
	for _, w := range []struct {
		field, text string
		most        int
	}{
		{"/title", v.Title, maxTitle}, {"/description", v.Description, maxDescription}, {"/changelog", v.Changelog, MaxWords},
		{"/publishedBy", v.PublishedBy, maxTitle}, {"/reason", v.Reason, MaxWords}, {"/successor", v.Successor, MaxWords}, {"/comment", comment, MaxWords}, {"/regressions/comment", accepted, MaxWords},
	} {
		if len(w.text) > w.most {
			return fault.Invalid(w.field, "must have at most %d bytes.", w.most)
		}
		if err := CheckText(w.field, w.text); err != nil {
			return err
		}
	}
	return nil
}

// CheckText rejects text that a database cannot store. field is the JSON pointer that the error names.
func CheckText(field, text string) error {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, notText) {
		return fault.Invalid(field, "must be UTF-8 text without control characters, except for tabs and line breaks.")
	}
	return nil
}

// notText reports whether a text contains characters that databases or YAML cannot represent, or that change how a
// terminal shows the text.
func notText(r rune) bool {
	return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' || r == 0xFEFF || r&0xFFFE == 0xFFFE
}
