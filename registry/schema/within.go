package schema

// Parts returns the subschemas of a schema by their pointers. The pointer "" is the schema itself. Parts includes a
// schema that is only the target of a reference. It omits a definition to which no reference points.
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

// beneath lists all schemas to which a node refers. Some entries may be nil.
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
