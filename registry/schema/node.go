package schema

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// node is a schema whose references are resolved to other nodes. Nodes form a graph with cycles.
type node struct {
	pointer string
	scope   *scope // enclosing schema with an $id; nil if no schema has a $dynamicRef

	always, never bool // the schemas true and {}, and false
	types         typeSet
	enum          map[string]struct{} // keys of values
	enumText      string              // the message
	constant      *string             // key of the value
	constantText  string
	format        *format

	ref, not, ifs, then, otherwise *node
	dynamic                        *dynamicRef
	allOf, anyOf, oneOf            []*node

	minProperties, maxProperties *int
	required                     []string
	properties                   map[string]*node
	patterns                     []patternNode
	additional, names            *node
	dependentRequired            []dependentNames
	dependentSchemas             []dependentNode
	unevaluatedProperties        *node

	minItems, maxItems       *int
	unique                   bool
	prefix                   []*node
	items                    *node
	contains                 *node
	minContains, maxContains *int
	marksContained           bool // since 2020-12 items that match contains count as evaluated
	unevaluatedItems         *node

	minLength, maxLength *int
	pattern              *pattern

	minimum, maximum, above, below, multiple *decimal
}

// dynamicRef is a $dynamicRef. fallback is its target if no outer schema under evaluation overrides it.
type dynamicRef struct {
	fallback *node
	anchor   string // "" if the reference is not an anchor, or its target is not a dynamic anchor
}

// scope is a schema resource, which is a schema with an $id or the whole document, with its dynamic anchors.
type scope struct{ anchors map[string]*node }

type patternNode struct {
	pattern *pattern
	node    *node
}

type dependentNames struct {
	property string
	needs    []string
}

type dependentNode struct {
	property string
	node     *node
}

// inPlace lists the schemas that apply to the same value as n.
func (n *node) inPlace() []*node {
	var all []*node
	add := func(nodes ...*node) {
		for _, other := range nodes {
			if other != nil {
				all = append(all, other)
			}
		}
	}
	add(n.ref, n.not, n.ifs, n.then, n.otherwise)
	if n.dynamic != nil {
		add(n.dynamic.fallback)
	}
	add(n.allOf...)
	add(n.anyOf...)
	add(n.oneOf...)
	for _, d := range n.dependentSchemas {
		add(d.node)
	}
	return all
}

// describesObject reports whether only objects fit. It follows references and combinations. The recursion ends because
// Compile rejects schemas that refer to themselves for the same value.
func (n *node) describesObject() bool {
	isObject := (*node).describesObject
	switch {
	case n.types == typeObject,
		n.ref != nil && n.ref.describesObject(),
		slices.ContainsFunc(n.allOf, isObject):
		return true
	}
	every := func(nodes []*node) bool {
		return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(other *node) bool { return !isObject(other) })
	}
	return every(n.anyOf) || every(n.oneOf)
}

// typeSet is a set of JSON types.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
)

func typesOf(t *jsonschema.Types) typeSet {
	if t == nil {
		return 0
	}
	var set typeSet
	for _, name := range t.ToStrings() {
		set |= map[string]typeSet{
			"null": typeNull, "boolean": typeBoolean, "integer": typeInteger, "number": typeNumber,
			"string": typeString, "array": typeArray, "object": typeObject,
		}[name]
	}
	return set
}

// typeOf returns the type of a value. Integers are numbers here; has distinguishes them.
func typeOf(v any) typeSet {
	switch v.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case json.Number:
		return typeNumber
	case string:
		return typeString
	case []any:
		return typeArray
	}
	return typeObject
}

// has reports whether a value has one of the types. 1.0 is an integer.
func (t typeSet) has(v any) bool {
	is := typeOf(v)
	if t&is != 0 {
		return true
	}
	if is != typeNumber || t&typeInteger == 0 {
		return false
	}
	n, _ := v.(json.Number)
	d, _ := parseDecimal(string(n))
	return d.isInteger()
}
