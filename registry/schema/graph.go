package schema

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/atelier-run/atelier/internal/fault"
)

// graph converts the library's compiled schemas to nodes. It converts each schema once.
type graph struct {
	doc     any // the document whose URL is home
	nodes   map[*jsonschema.Schema]*node
	sources []*jsonschema.Schema // the schemas of the nodes in all, in the same order
	all     []*node
	scopes  map[string]*scope
	dynamic bool // true if a node has a $dynamicRef
}

func newGraph(doc any) *graph {
	return &graph{doc: doc, nodes: map[*jsonschema.Schema]*node{}, scopes: map[string]*scope{}}
}

// node returns the node of a schema. The node is empty until finish fills it in. A recursive function could not do
// this, because schemas may be nested too deeply.
func (g *graph) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if n, ok := g.nodes[s]; ok {
		return n
	}
	n := &node{pointer: pointerOf(s.Location)}
	g.nodes[s] = n
	g.sources, g.all = append(g.sources, s), append(g.all, n)
	return n
}

// finish fills in all nodes that node has returned, and all nodes to which these refer.
func (g *graph) finish() *fault.Detail {
	for i := 0; i < len(g.all); i++ { // fill may append to all
		if problem := g.fill(g.all[i], g.sources[i]); problem != nil {
			return problem
		}
	}
	if g.dynamic {
		g.setScopes()
	}
	return nil
}

func (g *graph) fill(n *node, s *jsonschema.Schema) *fault.Detail {
	if s.Bool != nil {
		n.always, n.never = *s.Bool, !*s.Bool
		return nil
	}
	if s.RecursiveRef != nil {
		return &fault.Detail{Pointer: n.pointer + "/$recursiveRef", Code: "$ref", Message: "belongs to draft 2019-09; use $ref or $dynamicRef"}
	}
	if s.DraftVersion < 2019 && s.Ref != nil {
		n.ref = g.node(s.Ref) // In draft-07, keywords next to a $ref have no effect. The library wrongly keeps some newer keywords there.
		return nil
	}
	n.types = typesOf(s.Types)
	n.format = formatOf(s.Format)
	if s.Enum != nil {
		n.enum = make(map[string]struct{}, len(s.Enum.Values))
		for _, value := range s.Enum.Values {
			n.enum[keyOf(value)] = struct{}{}
		}
		n.enumText = "must be one of: " + listValues(s.Enum.Values)
	}
	if s.Const != nil {
		key := keyOf(*s.Const)
		n.constant, n.constantText = &key, "must be "+listValues([]any{*s.Const})
	}
	g.fillCombinations(n, s)
	g.fillObject(n, s)
	g.fillArray(n, s)
	n.minLength, n.maxLength = s.MinLength, s.MaxLength
	n.pattern, _ = s.Pattern.(*pattern)
	n.minimum, n.maximum = ratDecimal(s.Minimum), ratDecimal(s.Maximum)
	n.above, n.below = ratDecimal(s.ExclusiveMinimum), ratDecimal(s.ExclusiveMaximum)
	n.multiple = ratDecimal(s.MultipleOf)
	return nil
}

func (g *graph) fillCombinations(n *node, s *jsonschema.Schema) {
	n.ref, n.not = g.node(s.Ref), g.node(s.Not)
	n.ifs, n.then, n.otherwise = g.node(s.If), g.node(s.Then), g.node(s.Else)
	n.allOf, n.anyOf, n.oneOf = g.list(s.AllOf), g.list(s.AnyOf), g.list(s.OneOf)
	if d := s.DynamicRef; d != nil {
		g.dynamic = true
		n.dynamic = &dynamicRef{fallback: g.node(d.Ref)}
		if d.Anchor != "" && d.Ref.DynamicAnchor == d.Anchor {
			n.dynamic.anchor = d.Anchor
		}
	}
}

func (g *graph) fillObject(n *node, s *jsonschema.Schema) {
	n.minProperties, n.maxProperties, n.required = s.MinProperties, s.MaxProperties, s.Required
	if len(s.Properties) > 0 {
		n.properties = make(map[string]*node, len(s.Properties))
	}
	for _, name := range sortedKeys(s.Properties) {
		n.properties[name] = g.node(s.Properties[name])
	}
	for re, sub := range s.PatternProperties {
		if p, ok := re.(*pattern); ok {
			n.patterns = append(n.patterns, patternNode{p, g.node(sub)})
		}
	}
	sortPatterns(n.patterns)
	switch additional := s.AdditionalProperties.(type) {
	case bool:
		n.additional = &node{always: additional, never: !additional}
	case *jsonschema.Schema:
		n.additional = g.node(additional)
	}
	n.names, n.unevaluatedProperties = g.node(s.PropertyNames), g.node(s.UnevaluatedProperties)
	for _, name := range sortedKeys(s.DependentRequired) {
		n.dependentRequired = append(n.dependentRequired, dependentNames{name, s.DependentRequired[name]})
	}
	for _, name := range sortedKeys(s.DependentSchemas) {
		n.dependentSchemas = append(n.dependentSchemas, dependentNode{name, g.node(s.DependentSchemas[name])})
	}
	for _, name := range sortedKeys(s.Dependencies) { // keyword of draft-07
		switch needs := s.Dependencies[name].(type) {
		case []string:
			n.dependentRequired = append(n.dependentRequired, dependentNames{name, needs})
		case *jsonschema.Schema:
			n.dependentSchemas = append(n.dependentSchemas, dependentNode{name, g.node(needs)})
		}
	}
}

func (g *graph) fillArray(n *node, s *jsonschema.Schema) {
	n.minItems, n.maxItems, n.unique = s.MinItems, s.MaxItems, s.UniqueItems
	n.prefix, n.items = g.list(s.PrefixItems), g.node(s.Items2020)
	switch items := s.Items.(type) { // keyword of draft-07
	case *jsonschema.Schema:
		n.items = g.node(items)
	case []*jsonschema.Schema:
		n.prefix = g.list(items)
		switch additional := s.AdditionalItems.(type) {
		case bool:
			n.items = &node{always: additional, never: !additional}
		case *jsonschema.Schema:
			n.items = g.node(additional)
		}
	}
	n.contains, n.minContains, n.maxContains = g.node(s.Contains), s.MinContains, s.MaxContains
	n.marksContained = s.DraftVersion >= 2020
	n.unevaluatedItems = g.node(s.UnevaluatedItems)
}

func (g *graph) list(schemas []*jsonschema.Schema) []*node {
	var nodes []*node
	for _, s := range schemas {
		nodes = append(nodes, g.node(s))
	}
	return nodes
}

// setScopes sets the resource of each node, and collects the dynamic anchors of each resource.
func (g *graph) setScopes() {
	for i, n := range g.all {
		name := g.scopeName(g.sources[i].Location)
		if g.scopes[name] == nil {
			g.scopes[name] = &scope{anchors: map[string]*node{}}
		}
		n.scope = g.scopes[name]
		if anchor := g.sources[i].DynamicAnchor; anchor != "" {
			n.scope.anchors[anchor] = n
		}
	}
}

// scopeName returns the URL of the innermost schema with an $id that contains a location. Only the document at the URL
// home may have nested resources. A meta-schema is a single resource.
func (g *graph) scopeName(location string) string {
	base, _, _ := strings.Cut(location, "#")
	if base != home {
		return base
	}
	name, value := base, g.doc
	at := ""
	for i, token := range strings.Split(pointerOf(location), "/") {
		if i > 0 {
			at += "/" + token
			value = child(value, token)
		}
		if object, ok := value.(map[string]any); ok {
			if id, ok := object["$id"].(string); ok && !strings.HasPrefix(id, "#") {
				name = base + "#" + at
			}
		}
	}
	return name
}

// child returns the part of a value that a pointer token names, or nil if the part does not exist.
func child(value any, token string) any {
	switch v := value.(type) {
	case map[string]any:
		return v[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
	case []any:
		if i, ok := index(token); ok && i < len(v) {
			return v[i]
		}
	}
	return nil
}
