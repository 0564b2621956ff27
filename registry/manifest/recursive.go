package manifest

import (
	"net/url"
	"strconv"
	"strings"
)

// recursive reports whether a schema contains itself through local references. It ignores anchors and references to
// other documents; the exporters report both separately.
func recursive(root map[string]any) bool {
	r := recursion{root: root, seen: map[string]bool{}, open: map[string]bool{}}
	return r.from(root, "")
}

type recursion struct {
	root       map[string]any
	seen, open map[string]bool // the keys are pointers
}

func (r *recursion) from(schema any, pointer string) bool {
	if r.seen[pointer] {
		return r.open[pointer]
	}
	r.seen[pointer], r.open[pointer] = true, true
	defer delete(r.open, pointer)
	found := false
	walk(schema, pointer, func(inner any, at string) {
		object, _ := inner.(map[string]any)
		target, isReference := object["$ref"].(string)
		if found || !isReference || (target != "#" && !strings.HasPrefix(target, "#/")) {
			return
		}
		target = target[1:]
		if at == target || strings.HasPrefix(at, target+"/") {
			found = true
			return
		}
		if next, ok := lookUp(r.root, target); ok {
			found = r.from(next, target)
		}
	})
	return found
}

// lookUp follows a JSON pointer that is written as a URI fragment.
func lookUp(value any, pointer string) (any, bool) {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if decoded, err := url.PathUnescape(token); err == nil {
			token = decoded
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch holder := value.(type) {
		case map[string]any:
			next, ok := holder[token]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(holder) {
				return nil, false
			}
			value = holder[i]
		default:
			return nil, false
		}
	}
	return value, true
}
