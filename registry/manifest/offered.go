package manifest

import "strings"

// offer holds the data that the vendor formats share: the exported schema, its decoded form for checks, the
// description, and the warnings.
type offer struct {
	schema      members
	root        map[string]any
	description string
	warnings    []string
}

func offered(m Manifest) (offer, error) {
	schema, err := parameters(m)
	if err != nil {
		return offer{}, err
	}
	raw, err := encode(schema)
	if err != nil {
		return offer{}, err
	}
	root, err := decoded(raw)
	if err != nil {
		return offer{}, err
	}
	o := offer{schema: schema}
	o.root, _ = root.(map[string]any) // the root is an object, because parameters returns an object
	o.description, o.warnings = describe(m)
	return o, nil
}

// eachObject visits the subschemas that are JSON objects. Boolean schemas occur only under additionalProperties. They
// are checked together with the object that contains them.
func eachObject(root any, why *reasons, visit func(object map[string]any, pointer string)) {
	walk(root, "", func(schema any, pointer string) {
		if object, ok := schema.(map[string]any); ok {
			visit(object, pointer)
			return
		}
		if !strings.HasSuffix(pointer, "/additionalProperties") {
			why.add(pointer, "must be an object, not true or false")
		}
	})
}
