package schema

// Parts returns the subschemas of a schema by their pointers; "" is the schema itself. It includes a schema that is
// only the target of a reference, and omits a definition that nothing refers to.
func (s *Schema) Parts() map[string]*Schema {
	parts := map[string]*Schema{"": s}
	if s.root == nil {
		return parts
	}
	seen := map[*node]bool{s.root: true}
	for pending := []*node{s.root}; len(pending) > 0; {
		n := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		parts[n.pointer] = &Schema{root: n}
		for _, other := range n.beneath() {
			if other != nil && !seen[other] {
				seen[other] = true
				pending = append(pending, other)
			}
		}
	}
	parts[""] = s
	return parts
}

// beneath lists all schemas that a node refers to; some may be nil.
func (n *node) beneath() []*node {
	all := append(n.inPlace(), n.additional, n.names, n.unevaluatedProperties, n.items, n.contains, n.unevaluatedItems)
	all = append(all, n.prefix...)
	for _, sub := range n.properties {
		all = append(all, sub)
	}
	for _, p := range n.patterns {
		all = append(all, p.node)
	}
	return all
}
