package compat

import (
	"maps"
	"slices"
)

// annotation reports whether a keyword only informs people. Such a keyword does not affect which documents fit.
func annotation(keyword string) bool {
	return slices.Contains([]string{"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly",
		"$schema", "$defs", "definitions", "contentEncoding", "contentMediaType", "contentSchema"}, keyword)
}

// same reports whether two schemas are identical after following their references.
func same(a, b place) bool { return identical(a, b, map[[2]string]bool{}) }

// alike reports whether two schemas that both have a keyword have the same value for it.
func alike(a, b place, keyword string) bool {
	return !a.side.named && !b.side.named && a.side.draft7 == b.side.draft7 && identicalIn(keyword, a, b, map[[2]string]bool{})
}

func identical(a, b place, seen map[[2]string]bool) bool {
	if a.synthetic || b.synthetic || a.side.draft7 != b.side.draft7 || a.side.named || b.side.named {
		return false
	}
	key := [2]string{a.key(), b.key()}
	if seen[key] {
		return true
	}
	seen[key] = true
	left, ok := a.value.(map[string]any)
	right, both := b.value.(map[string]any)
	if !ok || !both {
		return a.value == b.value && !ok && !both
	}
	for _, members := range []map[string]any{left, right} {
		for keyword := range members {
			if annotation(keyword) || !a.has(keyword) && !b.has(keyword) {
				continue
			}
			if a.has(keyword) != b.has(keyword) || !identicalIn(keyword, a, b, seen) {
				return false
			}
		}
	}
	return true
}

func identicalIn(keyword string, a, b place, seen map[[2]string]bool) bool {
	is := func(x, y place) bool { return identical(x, y, seen) }
	switch keyword {
	case "$ref":
		x, ok := a.ref()
		y, both := b.ref()
		return ok && both && is(x, y)
	case "properties", "patternProperties", "dependentSchemas":
		return maps.EqualFunc(a.named(keyword), b.named(keyword), is)
	case "items", "allOf", "anyOf", "oneOf", "prefixItems", "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems",
		"unevaluatedProperties", "unevaluatedItems":
		x, ok := a.sub(keyword)
		y, both := b.sub(keyword)
		if ok && both {
			return is(x, y)
		}
		return ok == both && slices.EqualFunc(a.list(keyword), b.list(keyword), is)
	case "dependencies": // some values of dependencies are schemas
		return false
	}
	x, _ := a.get(keyword)
	y, _ := b.get(keyword)
	return sameValue(x, y)
}
