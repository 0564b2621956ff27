package schema

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// problemOf converts a compile error of the library to a detail with pointer and message.
func problemOf(err error, doc any) fault.Detail {
	var (
		elsewhere  *jsonschema.LoadURLError
		noPointer  *jsonschema.JSONPointerNotFoundError
		noAnchor   *jsonschema.AnchorNotFoundError
		badPattern *jsonschema.InvalidRegexError
		notSchema  *jsonschema.SchemaValidationError
	)
	switch {
	case errors.As(err, &elsewhere):
		return fault.Detail{Pointer: reference(doc, elsewhere.URL, false), Code: "$ref",
			Message: "must not refer to another document; copy the schema to $defs and refer to #/$defs/name"}
	case errors.As(err, &noPointer):
		return fault.Detail{Pointer: reference(doc, noPointer.URL, true), Code: "$ref", Message: "refers to a location that does not exist in the schema"}
	case errors.As(err, &noAnchor):
		return fault.Detail{Pointer: reference(doc, noAnchor.Reference, true), Code: "$ref", Message: "refers to an anchor that does not exist in the schema"}
	case errors.As(err, &badPattern):
		return fault.Detail{Pointer: patternPointer(badPattern), Code: "pattern", Message: badPattern.Err.Error()}
	case errors.As(err, &notSchema):
		return fault.Detail{Pointer: pointerOf(notSchema.URL), Code: "$ref", Message: "is the target of a reference but is not a schema"}
	}
	return fault.Detail{Code: "schema", Message: "cannot be compiled: check every $id, $anchor and $ref"}
}

// patternPointer returns the pointer to a pattern. For a key of patternProperties, the library's error contains only
// the pointer of the object.
func patternPointer(err *jsonschema.InvalidRegexError) string {
	pointer := pointerOf(err.URL)
	if strings.HasSuffix(pointer, "/patternProperties") {
		return pointer + "/" + jcs.EscapePointer(err.Regex)
	}
	return pointer
}

// reference returns the pointer to the $ref or $dynamicRef that resolves to a URL, because the library's errors do not
// contain this pointer. It returns "" if it finds none.
func reference(doc any, address string, withFragment bool) string {
	base, frag, _ := strings.Cut(address, "#")
	found := ""
	walk(doc, "", func(pointer string, value any) bool {
		object, ok := value.(map[string]any)
		for _, keyword := range []string{"$ref", "$dynamicRef"} {
			target, isText := object[keyword].(string)
			if !ok || !isText || found != "" {
				continue
			}
			path, targetFrag, _ := strings.Cut(target, "#")
			switch {
			case withFragment && targetFrag != "" && unescape(targetFrag) == unescape(frag),
				!withFragment && path != "" && strings.HasSuffix(base, strings.TrimPrefix(path, "./")):
				found = pointer + "/" + keyword
			}
		}
		return found == ""
	})
	return found
}

// pointerOf returns the JSON pointer in a URL that the library built.
func pointerOf(address string) string {
	_, frag, _ := strings.Cut(address, "#")
	return unescape(frag)
}

func unescape(frag string) string {
	if plain, err := url.PathUnescape(frag); err == nil {
		return plain
	}
	return frag
}

// fragment encodes a pointer as a URL fragment that the library decodes to the same pointer.
func fragment(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i := range tokens {
		tokens[i] = url.PathEscape(tokens[i])
	}
	return strings.Join(tokens, "/")
}

// walk calls visit for each value of a document, in the order of sorted keys, until visit returns false.
func walk(value any, pointer string, visit func(pointer string, value any) bool) bool {
	if !visit(pointer, value) {
		return false
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if !walk(v[key], pointer+"/"+jcs.EscapePointer(key), visit) {
				return false
			}
		}
	case []any:
		for i, item := range v {
			if !walk(item, pointer+"/"+itoa(i), visit) {
				return false
			}
		}
	}
	return true
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
