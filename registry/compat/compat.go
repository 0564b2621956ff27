// Package compat compares two JSON Schemas (draft-07, 2020-12, or one of each). It answers whether every document that
// fits one schema also fits the other, and lists the changes in sentences for people. It answers Yes only with a proof
// and No only with a counterexample. Otherwise the answer is Unknown. The package does not depend on agents and
// versions.
//
// The proof checks, one by one, the keywords of the schema that must accept every document. It may ignore keywords of
// the other schema. Ignoring a keyword only enlarges the set of documents, and a proof for a larger set also applies to
// the smaller set.
package compat

import (
	"encoding/json"
	"slices"
	"strings"
)

// Answer answers the question whether every document that fits one schema also fits another.
type Answer string

// These are the values of Answer. Described means Yes for all documents whose objects have only properties that the
// first schema describes, although the first schema allows others. New properties in the second schema do not affect
// such documents.
const (
	Yes       Answer = "yes"
	Described Answer = "described"
	No        Answer = "no"
	Unknown   Answer = "unknown"
)

// Effect says how a change alters the set of accepted documents.
type Effect string

// These are the values of Effect. Adds and Removes are for properties that only one of the schemas describes.
const (
	Narrows Effect = "narrows"
	Widens  Effect = "widens"
	Adds    Effect = "adds"
	Removes Effect = "removes"
)

// Change is one difference as a sentence for people. Pointer refers to the new schema, or to the old schema if the new
// schema does not have the location.
type Change struct {
	Effect  Effect `json:"effect"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
	path    string // path of the changed value in a document
	words   string // message without its subject
}

// Result is the outcome of comparing an old schema with a new one.
type Result struct {
	Forward  Answer // every document of the old schema fits the new one
	Backward Answer // every document of the new schema fits the old one; never Described
	Changes  []Change
	// Refused is a document that the old schema accepts and the new schema rejects. Taken is a document that the old
	// schema rejects and the new schema accepts. Each is nil if no such document was found.
	Refused, Taken json.RawMessage
}

// Compare compares two schemas. An absent schema accepts every document. subject names the whole document in sentences,
// such as "the input". Error: InvalidInput for a schema that does not compile.
func Compare(before, after json.RawMessage, subject string) (Result, error) {
	old, err := newSide("old", before)
	if err != nil {
		return Result{}, err
	}
	now, err := newSide("new", after)
	if err != nil {
		return Result{}, err
	}
	if sameDocument(old, now) {
		return Result{Forward: Yes, Backward: Yes}, nil
	}
	w := walkProperties(old, now)
	forward := prover{subject: subject, added: true, described: true}
	backward := prover{subject: subject}
	result := Result{Forward: No, Backward: No}
	switch {
	case (&prover{subject: subject, added: true}).run(old, now):
		result.Forward = Yes
	case forward.run(old, now):
		result.Forward = Described
	default:
		if result.Refused = witness(old, now); result.Refused == nil {
			result.Forward = Unknown
		}
	}
	if backward.run(now, old) {
		result.Backward = Yes
	} else if result.Taken = witness(now, old); result.Taken == nil {
		result.Backward = Unknown
	}
	result.Changes = gather(w, forward.found, backward.found)
	return result, nil
}

// gather merges the findings into one list without repetition. It reports a new required property once, and omits
// constraints inside a removed property.
func gather(w properties, narrowed, widened []Change) []Change {
	var all []Change
	beneath := func(path string, roots map[string]string) bool {
		for root := range roots {
			if path == root || strings.HasPrefix(path, root+".") || strings.HasPrefix(path, root+"[") {
				return true
			}
		}
		return false
	}
	said := map[[4]string]int{} // a recursive schema repeats the same change at many depths
	add := func(c Change) {
		key := [4]string{string(c.Effect), c.Pointer, c.words, c.path[strings.LastIndexByte(c.path, '.')+1:]}
		at, twice := said[key]
		switch {
		case !twice:
			said[key] = len(all)
			all = append(all, c)
		case len(c.path) < len(all[at].path):
			all[at] = c
		}
	}
	required := map[string]bool{}
	for _, c := range narrowed {
		if beneath(c.path, w.removed) {
			continue
		}
		required[c.path] = required[c.path] || strings.HasSuffix(c.Pointer, "/required")
		add(c)
	}
	for _, path := range sorted(w.removed) {
		add(Change{Effect: Removes, Pointer: w.removed[path], Message: quoted(path) + " was removed", path: path})
	}
	for _, path := range sorted(w.added) {
		if !required[path] {
			add(Change{Effect: Adds, Pointer: w.added[path], Message: quoted(path) + " was added", path: path})
		}
	}
	for _, c := range widened {
		if !beneath(c.path, w.removed) {
			add(c)
		}
	}
	return all
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Path locates the change in a document, such as address.street or tags[].
func (c Change) Path() string { return c.path }
