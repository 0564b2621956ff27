package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
)

// maxDepth is the maximum nesting of a result. It prevents stack overflows in recursive JSON readers.
const maxDepth = jcs.MaxDepth

// checkResult returns a program's result without insignificant white space. If the result is invalid, it returns an
// error with the path of the invalid value. A result must be JSON without duplicate keys and without unpaired
// surrogates. Otherwise JSON readers could read different values. The caller checks the size.
func checkResult(raw []byte) (json.RawMessage, error) {
	var bad *jcs.Error
	if err := jcs.Check(raw, jcs.Limits{}); errors.As(err, &bad) {
		if bad.Reason == jcs.TooDeep { // a path with such a key is too long for a message
			return nil, errors.New("output " + bad.Message)
		}
		return nil, fmt.Errorf("output%s: %s", path(bad.Pointer), bad.Message)
	}
	var compact bytes.Buffer
	compact.Grow(len(raw))
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

// shallow reports whether the nesting of a JSON text is at most maxDepth.
func shallow(raw []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return false
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return true
}

// path converts a JSON pointer to the notation of programming languages: .name, ["other name"] or [index].
func path(pointer string) string {
	const longest = 200
	var path strings.Builder
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for i, token := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		switch key := unescape.Replace(token); {
		case isIndex(key):
			path.WriteString("[" + key + "]")
		case isName(key):
			path.WriteString("." + key)
		default:
			path.WriteString("[" + strconv.Quote(key) + "]")
		}
		if path.Len() > longest {
			return strings.ToValidUTF8(path.String()[:longest], "") + "…"
		}
	}
	return path.String()
}

func isIndex(key string) bool {
	_, err := strconv.ParseUint(key, 10, 32)
	return err == nil
}

func isName(key string) bool {
	for i, c := range key {
		letter := c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return key != ""
}
