package compat

import "slices"

// annotation reports whether a keyword informs people and does not affect which documents fit.
func annotation(keyword string) bool {
	return slices.Contains([]string{"title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly",
		"$schema", "$defs", "definitions", "contentEncoding", "contentMediaType", "contentSchema"}, keyword)
}

// same reports whether two schemas are identical after following their references.
func same(a, b place) bool { return alike(a, b, map[[2]string]bool{}) }

func alike(a, b place, seen map[[2]string]bool) bool {
	if a.made || b.made || a.side.draft7 != b.side.draft7 || a.side.named || b.side.named {
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
	for _, keyword := range keywords(left, right) {
		if !a.has(keyword) && !b.has(keyword) {
			continue
		}
		if a.has(keyword) != b.has(keyword) || !alikeUnder(keyword, a, b, seen) {
			return false
		}
	}
	return true
}

func keywords(objects ...map[string]any) []string {
	var all []string
	for _, object := range objects {
		for keyword := range object {
			if !annotation(keyword) {
				all = append(all, keyword)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func alikeUnder(keyword string, a, b place, seen map[[2]string]bool) bool {
	switch keyword {
	case "$ref":
		x, ok := a.ref()
		y, both := b.ref()
		return ok && both && alike(x, y, seen)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return alikeLists(a.list(keyword), b.list(keyword), seen)
	case "properties", "patternProperties", "dependentSchemas":
		return alikeNamed(a.named(keyword), b.named(keyword), seen)
	case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems":
		x, ok := a.sub(keyword)
		y, both := b.sub(keyword)
		return ok && both && alike(x, y, seen)
	case "items":
		x, ok := a.sub(keyword)
		y, both := b.sub(keyword)
		if ok != both {
			return false
		}
		if ok {
			return alike(x, y, seen)
		}
		return alikeLists(a.list(keyword), b.list(keyword), seen)
	case "dependencies":
		return alikeDependencies(a, b, seen)
	}
	x, _ := a.get(keyword)
	y, _ := b.get(keyword)
	return sameValue(x, y)
}

func alikeLists(a, b []place, seen map[[2]string]bool) bool {
	return slices.EqualFunc(a, b, func(x, y place) bool { return alike(x, y, seen) })
}

func alikeNamed(a, b map[string]place, seen map[[2]string]bool) bool {
	return slices.Equal(sorted(a), sorted(b)) && !slices.ContainsFunc(sorted(a), func(name string) bool { return !alike(a[name], b[name], seen) })
}

func alikeDependencies(a, b place, seen map[[2]string]bool) bool {
	x, _ := a.get("dependencies")
	y, _ := b.get("dependencies")
	left, _ := x.(map[string]any)
	right, _ := y.(map[string]any)
	if !slices.Equal(sorted(left), sorted(right)) || !alikeNamed(a.named("dependencies"), b.named("dependencies"), seen) {
		return false
	}
	return !slices.ContainsFunc(sorted(left), func(name string) bool { return !slices.Equal(texts(left[name]), texts(right[name])) })
}
