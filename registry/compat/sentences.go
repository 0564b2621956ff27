package compat

import (
	"encoding/json"
	"strings"
)

const (
	longestValue = 40
	mostListed   = 6
)

// shown formats a value of a schema for a sentence.
func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "a value"
	}
	if len(text) > longestValue {
		return strings.ToValidUTF8(string(text[:longestValue]), "") + "…"
	}
	return string(text)
}

func listed(names []string) string {
	if len(names) > mostListed {
		names = append(append([]string{}, names[:mostListed]...), "…")
	}
	return strings.Join(names, ", ")
}

// text lists the types of a kind in words, for example "a string or null".
func (k kind) text() string {
	if k == anything {
		return "anything"
	}
	var names []string
	for _, known := range []struct {
		kind kind
		name string
	}{{text, "a string"}, {numbers, "a number"}, {integer, "an integer"}, {boolean, "a boolean"}, {object, "an object"}, {array, "an array"}, {null, "null"}} {
		if k&known.kind == known.kind {
			names = append(names, known.name)
			k &^= known.kind
		}
	}
	switch len(names) {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

func member(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
