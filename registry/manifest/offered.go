package manifest

import "strings"

// offer is what the vendors' dialects begin with: the schema as it goes out, and as it is looked through.
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
	o.root, _ = root.(map[string]any) // parameters are an object
	o.description, o.warnings = describe(m)
	return o, nil
}

// eachObject visits the schemas that are objects; of others only additionalProperties may be true or false, which is a matter
// of the object around it.
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
