package manifest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
)

// modernized rewrites a draft-07 schema in place. The result means the same in 2020-12, which is the dialect of OpenAPI
// 3.1. Schemas of other dialects stay unchanged.
func modernized(tree any) {
	object, ok := tree.(*branch)
	if !ok {
		return
	}
	dialect, _ := object.get("$schema").(string)
	if !strings.Contains(dialect, "draft-07") {
		return
	}
	object.remove("$schema")
	m := &modernizer{}
	m.schema(object, "")
	m.redirect(object)
}

// modernizer records the old and new pointers of keywords that it moves, so that it can correct references to them.
type modernizer struct{ moves []move }

type move struct{ from, to string } // old and new pointer of a moved keyword

func (m *modernizer) schema(value any, pointer string) {
	object, ok := value.(*branch)
	if !ok {
		return
	}
	if object.get("$ref") != nil {
		object.keep("$ref", "definitions", "$defs", "title", "description", "default", "examples", "$comment", "readOnly", "writeOnly")
	}
	if id, _ := object.get("$id").(string); strings.HasPrefix(id, "#") {
		object.rename("$id", "$anchor", id[1:])
	}
	for i := range *object {
		t := &(*object)[i]
		here := pointer + "/" + jcs.EscapePointer(t.name)
		switch held := t.value.(type) {
		case *branch:
			switch holds(t.name) {
			case oneSchema:
				m.schema(held, here)
			case namedSchemas:
				for _, inner := range *held {
					m.schema(inner.value, here+"/"+jcs.EscapePointer(inner.name))
				}
			case noSchema, schemaList:
			}
		case []any:
			if holds(t.name) == noSchema {
				continue
			}
			for j, item := range held {
				m.schema(item, here+"/"+strconv.Itoa(j))
			}
		}
	}
	m.tuple(object, pointer)
	m.dependencies(object, pointer)
}

// tuple converts array keywords. If items is a list, it becomes prefixItems, and additionalItems becomes items. If
// items is not a list, additionalItems has no effect and is removed.
func (m *modernizer) tuple(object *branch, pointer string) {
	list, isList := object.get("items").([]any)
	more := object.get("additionalItems")
	if !isList {
		object.remove("additionalItems")
		return
	}
	object.rename("items", "prefixItems", list)
	m.moves = append(m.moves, move{pointer + "/items", pointer + "/prefixItems"})
	if more != nil {
		object.rename("additionalItems", "items", more)
		m.moves = append(m.moves, move{pointer + "/additionalItems", pointer + "/items"})
	}
}

// dependencies replaces the keyword by its two successors, dependentRequired and dependentSchemas.
func (m *modernizer) dependencies(object *branch, pointer string) {
	held, ok := object.get("dependencies").(*branch)
	if !ok {
		return
	}
	names, schemas := &branch{}, &branch{}
	for _, t := range *held {
		if _, isList := t.value.([]any); isList {
			*names = append(*names, t)
		} else {
			*schemas = append(*schemas, t)
		}
	}
	object.remove("dependencies")
	if len(*names) > 0 {
		*object = append(*object, twig{"dependentRequired", names})
	}
	if len(*schemas) > 0 {
		*object = append(*object, twig{"dependentSchemas", schemas})
		m.moves = append(m.moves, move{pointer + "/dependencies", pointer + "/dependentSchemas"})
	}
}

// redirect corrects the references to keywords that were moved. The innermost keywords were moved first, so their
// recorded pointers still contain the old names of the outer keywords.
func (m *modernizer) redirect(value any) {
	switch v := value.(type) {
	case *branch:
		for i := range *v {
			t := &(*v)[i]
			if target, ok := t.value.(string); ok && t.name == "$ref" {
				for _, one := range m.moves {
					if rest, ok := strings.CutPrefix(target, "#"+one.from); ok && (rest == "" || rest[0] == '/') {
						target = "#" + one.to + rest
					}
				}
				t.value = target
			}
			m.redirect(t.value)
		}
	case []any:
		for _, item := range v {
			m.redirect(item)
		}
	}
}

func (b *branch) get(name string) any {
	for _, t := range *b {
		if t.name == name {
			return t.value
		}
	}
	return nil
}

func (b *branch) remove(name string) {
	*b = slices.DeleteFunc(*b, func(t twig) bool { return t.name == name })
}

func (b *branch) keep(names ...string) {
	*b = slices.DeleteFunc(*b, func(t twig) bool { return !slices.Contains(names, t.name) })
}

func (b *branch) rename(from, to string, value any) {
	for i := range *b {
		if (*b)[i].name == from {
			(*b)[i] = twig{to, value}
		}
	}
}
