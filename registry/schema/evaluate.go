package schema

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// MaxDetails is the maximum number of problems that Validate lists.
const MaxDetails = 50

// maxBranchDetails is the maximum number of problems collected for one alternative of anyOf or oneOf. It is small
// because most of these problems are not reported in the end.
const maxBranchDetails = 10

// maxWork limits one check, in steps of about ten nanoseconds. In the worst case a check takes about half a second. If
// a schema refers to itself in two places, the work doubles with each level of the document. An analysis of the schema
// alone cannot detect this.
const maxWork = 20_000_000

// evaluation is the state of one check of one document.
type evaluation struct {
	work    int           // remaining steps
	slow    time.Duration // remaining time for patterns that backtrack
	scopes  []*scope      // resources under evaluation, outermost first
	path    []string      // tokens of the pointer to the current value
	stopped *fault.Detail // reason why the check ended early; if set, all further checks return false
	full    bool          // the report is full; if set, all further checks return false
}

// report collects problems. If the report is nil, only the result of the check is needed.
type report struct {
	limit int
	found []problem
}

// problem is a detail of an error, with the data that noAlternative needs to find the intended alternative.
type problem struct {
	fault.Detail
	depth int     // depth of the value in the document
	types typeSet // expected types, if the problem is a wrong type
}

// evaluate first checks a document without collecting problems, which is faster. Most documents fit, and then messages
// about alternatives that do not fit would be wasted. If the document does not fit, evaluate checks it again and
// collects the problems.
func evaluate(root *node, doc any, work int) []fault.Detail {
	quick := newEvaluation(work)
	if quick.fits(root, doc, nil, nil) {
		return nil
	}
	if quick.stopped != nil {
		return []fault.Detail{*quick.stopped}
	}
	e, r := newEvaluation(work), &report{limit: MaxDetails}
	e.fits(root, doc, r, nil)
	details := r.details()
	if e.stopped != nil {
		details = append(details[:min(len(details), MaxDetails-1)], *e.stopped)
	}
	return details
}

func newEvaluation(work int) *evaluation { return &evaluation{work: work, slow: slowPatternBudget} }

// details returns the problems without duplicates, because two schemas may report the same problem.
func (r *report) details() []fault.Detail {
	var details []fault.Detail
	seen := map[[2]string]bool{}
	for _, p := range r.found {
		if key := [2]string{p.Pointer, p.Message}; !seen[key] {
			seen[key] = true
			details = append(details, p.Detail)
		}
	}
	return details
}

// spend subtracts steps from the remaining work. It reports whether enough steps remained.
func (e *evaluation) spend(steps int) bool {
	e.work -= steps
	if e.work < 0 && e.stopped == nil {
		e.stopped = &fault.Detail{Code: TooComplex, Message: "is too large to validate against this schema; send less, or simplify the schema"}
	}
	return !e.over()
}

func (e *evaluation) over() bool { return e.stopped != nil || e.full }

func (e *evaluation) pointer() string {
	var b strings.Builder
	for _, token := range e.path {
		b.WriteByte('/')
		b.WriteString(jcs.EscapePointer(token))
	}
	return b.String()
}

// wrong records a problem of the current value and returns false.
func (e *evaluation) wrong(r *report, code, message string) bool {
	e.note(r, problem{Detail: fault.Detail{Code: code, Message: message}})
	return false
}

func (e *evaluation) note(r *report, p problem) {
	if r == nil || len(r.found) >= r.limit || !e.spend(32+8*len(e.path)) {
		return
	}
	p.Pointer, p.depth = e.pointer(), len(e.path)
	r.found = append(r.found, p)
	e.full = r.limit == MaxDetails && len(r.found) == MaxDetails
}

// fits checks a value against a schema. It adds the properties and items that the schema has evaluated to marks, if
// marks is not nil. The unevaluated keywords of an enclosing schema need them. If the value does not fit, fits adds
// nothing to marks.
func (e *evaluation) fits(n *node, v any, r *report, marks *marks) bool {
	if !e.spend(4) {
		return false
	}
	if n.always {
		return true
	}
	if n.never {
		return e.wrong(r, "false", "is not allowed")
	}
	if n.scope != nil && (len(e.scopes) == 0 || e.scopes[len(e.scopes)-1] != n.scope) {
		e.scopes = append(e.scopes, n.scope)
		defer func() { e.scopes = e.scopes[:len(e.scopes)-1] }()
	}
	own := marks.inner(n)
	if !e.isAllowed(n, v, r) {
		return false
	}
	ok := e.combined(n, v, r, own)
	if ok || r != nil {
		ok = e.typed(n, v, r, own) && ok
	}
	if ok || r != nil {
		ok = e.unevaluated(n, v, r, own) && ok
	}
	ok = ok && !e.over()
	if ok {
		marks.add(own)
	}
	return ok
}

// isAllowed checks type, enum, const and format. If one of them fails, the rest of the schema is not checked, because
// it would only report the same problem again.
func (e *evaluation) isAllowed(n *node, v any, r *report) bool {
	if n.types != 0 && !n.types.has(v) {
		if r != nil {
			e.note(r, problem{Detail: detail("type", "must be "+n.types.text()), types: n.types})
		}
		return false
	}
	if n.constant == nil && n.enum == nil && n.format == nil {
		return true
	}
	if n.constant != nil || n.enum != nil {
		key := keyOf(v)
		if !e.spend(len(key) / 8) {
			return false
		}
		if n.constant != nil && *n.constant != key {
			return e.wrong(r, "const", n.constantText)
		}
		if _, ok := n.enum[key]; n.enum != nil && !ok {
			return e.wrong(r, "enum", n.enumText)
		}
	}
	if n.format == nil {
		return true
	}
	text, isText := v.(string)
	if !isText {
		return true
	}
	if !e.spend(len(text) / 4) {
		return false
	}
	if wrong := n.format.problem(text); wrong != "" {
		return e.wrong(r, "format", wrong)
	}
	return true
}

func (e *evaluation) typed(n *node, v any, r *report, own *marks) bool {
	switch v := v.(type) {
	case map[string]any:
		return e.object(n, v, r, own)
	case []any:
		return e.array(n, v, r, own)
	case string:
		return e.text(n, v, r)
	case json.Number:
		return e.number(n, v, r)
	}
	return true
}

// at checks a part of the current value: the property or item that the token names.
func (e *evaluation) at(token string, n *node, v any, r *report) bool {
	e.path = append(e.path, token)
	ok := e.fits(n, v, r, nil)
	e.path = e.path[:len(e.path)-1]
	return ok
}
