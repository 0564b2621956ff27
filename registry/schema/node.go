package schema

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// node is a compiled schema. Its references are pointers to other nodes, so the graph of nodes may contain cycles.
type node struct {
	pointer string
	scope   *scope // enclosing schema with an $id; nil if no schema of the document has a $dynamicRef

	always, never bool // always is true for the schemas true and {}; never is true for the schema false
	types         typeSet
	enum          map[string]struct{} // keys of the allowed values
	enumText      string              // text for the message
	constant      *string             // key of the only allowed value
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
	marksContained           bool // items that match contains count as evaluated; true from 2020-12
	unevaluatedItems         *node

	minLength, maxLength *int
	pattern              *pattern

	minimum, maximum, above, below, multiple *decimal
}

// dynamicRef is a $dynamicRef. fallback is its target, unless an outer schema under evaluation has the same anchor.
type dynamicRef struct {
	fallback *node
	anchor   string // "" if the reference is not an anchor, or its target has no dynamic anchor
}

// scope is a schema resource with its dynamic anchors. A resource is a schema with an $id, or the whole document.
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

// inPlace lists the schemas that apply to the same value as n, and to which n refers directly.
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

// describesObject reports whether a schema accepts only objects. It follows references and combinations. The recursion
// ends, because Compile rejects a schema that refers to itself for the same value.
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

// typeOf returns the type of a value. It returns typeNumber for integers too; the function has distinguishes integers from other numbers.
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

// has reports whether a value has one of the types. The number 1.0 counts as an integer.
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
