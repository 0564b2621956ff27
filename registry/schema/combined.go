package schema

// combined checks the keywords that apply other schemas to the same value: references, combinations and conditions.
func (e *evaluation) combined(n *node, v any, r *report, own *marks) bool {
	ok := true
	every := func(other *node) bool {
		if other != nil && (ok || r != nil) {
			ok = e.fits(other, v, r, own) && ok
		}
		return ok || r != nil
	}
	every(n.ref)
	if n.dynamic != nil {
		every(e.target(n.dynamic))
	}
	for _, other := range n.allOf {
		if !every(other) {
			return false
		}
	}
	if n.ifs != nil {
		if e.fits(n.ifs, v, nil, own) {
			every(n.then)
		} else {
			every(n.otherwise)
		}
	}
	if object, isObject := v.(map[string]any); isObject {
		for _, d := range n.dependentSchemas {
			if _, present := object[d.property]; present {
				every(d.node)
			}
		}
	}
	if n.not != nil && (ok || r != nil) && e.fits(n.not, v, nil, nil) {
		ok = e.wrong(r, "not", "matches a schema under not")
	}
	if len(n.anyOf) > 0 && (ok || r != nil) {
		ok = e.anyOf(n, v, r, own) && ok
	}
	if len(n.oneOf) > 0 && (ok || r != nil) {
		ok = e.oneOf(n, v, r, own) && ok
	}
	return ok
}

// target resolves a $dynamicRef. Of the resources under evaluation that have the anchor, the outermost decides.
func (e *evaluation) target(d *dynamicRef) *node {
	if d.anchor != "" {
		for _, s := range e.scopes {
			if n, ok := s.anchors[d.anchor]; ok {
				return n
			}
		}
	}
	return d.fallback
}

func (e *evaluation) anyOf(n *node, v any, r *report, own *marks) bool {
	fits := false
	var branches []*report
	for _, other := range n.anyOf {
		branch := r.branch()
		if e.fits(other, v, branch, own) {
			fits = true
			if own == nil {
				return true
			}
		}
		branches = append(branches, branch)
	}
	if !fits {
		e.noAlternative(r, "anyOf", branches)
	}
	return fits
}

func (e *evaluation) oneOf(n *node, v any, r *report, own *marks) bool {
	first := -1
	var branches []*report
	for i, other := range n.oneOf {
		branch := r.branch()
		if !e.fits(other, v, branch, own) {
			branches = append(branches, branch)
			continue
		}
		if first >= 0 {
			return e.wrong(r, "oneOf", "must match exactly one of "+itoa(len(n.oneOf))+" alternatives, but matches those at positions "+itoa(first)+" and "+itoa(i))
		}
		first = i
	}
	if first < 0 {
		e.noAlternative(r, "oneOf", branches)
	}
	return first >= 0
}

// branch returns a separate report for an alternative, or nil if the caller needs no details.
func (r *report) branch() *report {
	if r == nil {
		return nil
	}
	return &report{limit: maxBranchDetails}
}

// noAlternative reports why no alternative matches. It guesses which alternative was intended: the alternative whose
// type and constants match. If exactly one alternative qualifies, its problems are reported. Otherwise the message only
// says that no alternative matches.
func (e *evaluation) noAlternative(r *report, code string, branches []*report) {
	if r == nil || e.over() {
		return
	}
	rightType, types := e.sift(branches, func(p problem) bool { return p.types != 0 && p.depth == len(e.path) })
	if len(rightType) == 0 && types != 0 {
		e.note(r, problem{Detail: detail("type", "must be "+types.text()), types: types})
		return
	}
	meant := rightType
	if len(meant) > 1 {
		meant, _ = e.sift(rightType, func(p problem) bool { return p.Code == "const" || p.Code == "enum" })
	}
	if len(meant) != 1 {
		e.wrong(r, code, "must match one of "+itoa(len(branches))+" alternatives, but matches none")
		return
	}
	for _, p := range meant[0].found {
		if len(r.found) < r.limit {
			r.found = append(r.found, p)
		}
	}
	e.full = r.limit == MaxDetails && len(r.found) == MaxDetails
}

// sift returns the branches that have no problem of the kind isSort. It also returns the types that the problems of
// this kind expected.
func (e *evaluation) sift(branches []*report, isSort func(problem) bool) (kept []*report, types typeSet) {
	for _, b := range branches {
		out := false
		for _, p := range b.found {
			if isSort(p) {
				out = true
				types |= p.types
			}
		}
		if !out {
			kept = append(kept, b)
		}
	}
	return kept, types
}
