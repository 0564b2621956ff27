package schema

// marks records which properties and items of a value at least one schema has evaluated. A nil *marks records nothing.
type marks struct {
	allProperties bool
	properties    map[string]struct{}
	items         int // the number of leading items that were evaluated
	contained     map[int]struct{}
}

// inner returns separate marks for evaluating n. If the value fits n, the caller adds these marks to m. Otherwise the
// caller drops them.
func (m *marks) inner(n *node) *marks {
	if m == nil && n.unevaluatedProperties == nil && n.unevaluatedItems == nil {
		return nil
	}
	return &marks{}
}

func (m *marks) property(name string) {
	if m == nil || m.allProperties {
		return
	}
	if m.properties == nil {
		m.properties = map[string]struct{}{}
	}
	m.properties[name] = struct{}{}
}

func (m *marks) everyProperty() {
	if m != nil {
		m.allProperties = true
	}
}

func (m *marks) hasProperty(name string) bool {
	_, ok := m.properties[name]
	return ok || m.allProperties
}

func (m *marks) firstItems(n int) {
	if m != nil {
		m.items = max(m.items, n)
	}
}

func (m *marks) item(i int) {
	if m == nil {
		return
	}
	if m.contained == nil {
		m.contained = map[int]struct{}{}
	}
	m.contained[i] = struct{}{}
}

func (m *marks) hasItem(i int) bool {
	_, ok := m.contained[i]
	return ok || i < m.items
}

// add adds the properties and items that an inner schema has evaluated.
func (m *marks) add(inner *marks) {
	if m == nil || inner == nil {
		return
	}
	m.allProperties = m.allProperties || inner.allProperties
	for name := range inner.properties {
		m.property(name)
	}
	m.firstItems(inner.items)
	for i := range inner.contained {
		m.item(i)
	}
}

// size returns the number of entries that add copies. It measures the cost of add.
func (m *marks) size() int {
	if m == nil {
		return 0
	}
	return len(m.properties) + len(m.contained)
}
