// Package compat compares two JSON Schemas (draft-07 and 2020-12, also one of each): whether every document that one
// takes is taken by the other, and what a person would say has changed. It answers Yes only with a proof and No only
// with a document that shows it; where it has neither, the answer is Unknown. It knows nothing of agents and versions.
//
// The proof goes keyword by keyword over the schema that must take everything. Of the other it may overlook keywords:
// that makes the set of its documents larger, so that what is proven of it holds for the smaller one too.
package compat

import (
	"encoding/json"
	"slices"
	"strings"
)

// Answer tells whether every document of one schema fits another.
type Answer string

// The answers. Described is Yes for documents whose objects have only properties that the first schema describes, where
// it leaves open which others there may be: who follows the schema is not affected by a property that is new.
const (
	Yes       Answer = "yes"
	Described Answer = "described"
	No        Answer = "no"
	Unknown   Answer = "unknown"
)

// Effect is what a change does to the set of documents that fit.
type Effect string

// The effects. Adds and Removes are about properties that one of the schemas does not describe.
const (
	Narrows Effect = "narrows"
	Widens  Effect = "widens"
	Adds    Effect = "adds"
	Removes Effect = "removes"
)

// Change is one difference as a person would say it. Pointer leads into the new schema, or into the old one where the
// new has no such place.
type Change struct {
	Effect  Effect `json:"effect"`
	Pointer string `json:"pointer"`
	Message string `json:"message"`
	path    string // in a document
	words   string // the message without its subject
}

// Result is what came of comparing an old schema with a new one.
type Result struct {
	Forward  Answer // does every document that the old schema takes fit the new one?
	Backward Answer // and the other way round? Never Described
	Changes  []Change
	// Refused is a document that the old schema takes and the new one refuses, Taken the reverse; nil if none was found.
	Refused, Taken json.RawMessage
}

// Compare compares two schemas; an absent one takes everything. Subject is what sentences call the whole document, such
// as "the input". The error is InvalidInput about a schema that does not compile.
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

// gather puts what was found into one list without saying anything twice: a property that came and is required came as
// a requirement, one that went took its constraints along.
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
	said := map[[4]string]int{} // a schema that refers to itself has the same change at many depths
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

// Path is where in a document a change is, such as address.street or tags[].
func (c Change) Path() string { return c.path }
