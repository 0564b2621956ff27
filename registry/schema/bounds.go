package schema

import (
	"github.com/atelier-run/atelier/internal/fault"
)

// bounded rejects a graph in which too many schemas apply to one value. For each schema, it counts the schemas that
// apply to the same value through references, combinations and conditions. It does not count schemas for parts of the
// value. Each node is counted once, and sums stop growing at the limit. So the time is linear, however large the
// expansion is.
func bounded(all []*node) *fault.Detail {
	b := bounds{sizes: make(map[*node]size, len(all)), anchors: map[string][]*node{}}
	for _, n := range all {
		if n.scope == nil {
			continue
		}
		for anchor, target := range n.scope.anchors {
			if target == n {
				b.anchors[anchor] = append(b.anchors[anchor], n)
			}
		}
	}
	for _, n := range all {
		if problem := b.visit(n); problem != nil {
			return problem
		}
	}
	return nil
}

type bounds struct {
	sizes   map[*node]size
	anchors map[string][]*node // possible targets of a $dynamicRef
}

// size describes the expansion of a node: the number of schemas and their nesting depth. open is true while the node is
// being counted. If counting reaches an open node again, the node refers to itself.
type size struct {
	count, chain int
	open         bool
}

func (b *bounds) visit(n *node) *fault.Detail {
	if s, ok := b.sizes[n]; ok {
		if s.open {
			return complexity(n.pointer, "refers to itself for the same value, so validation would never end")
		}
		return nil
	}
	// The recursion is as deep as the longest chain of schemas. A chain that is too long is rejected only when the
	// recursion returns, so maxChain does not limit the depth. maxValues limits it.
	b.sizes[n] = size{open: true}
	total := size{count: 1, chain: 1}
	for _, other := range b.targets(n) {
		if problem := b.visit(other); problem != nil {
			return problem
		}
		total.count += b.sizes[other].count
		total.chain = max(total.chain, 1+b.sizes[other].chain)
		if total.count > MaxExpansion {
			return complexity(n.pointer, "expands to more than "+itoa(MaxExpansion)+" schemas; refer to each schema only once")
		}
		if total.chain > maxChain {
			return complexity(n.pointer, "nests more than "+itoa(maxChain)+" references and combinations for one value")
		}
	}
	b.sizes[n] = total
	return nil
}

// targets lists the schemas that apply to the same value as n. A $dynamicRef may refer to any schema with its anchor.
func (b *bounds) targets(n *node) []*node {
	all := n.inPlace()
	if n.dynamic != nil && n.dynamic.anchor != "" {
		for _, target := range b.anchors[n.dynamic.anchor] {
			if target != n.dynamic.fallback {
				all = append(all, target)
			}
		}
	}
	return all
}
