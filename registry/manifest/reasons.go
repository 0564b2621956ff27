package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// reasons collects sentences about a schema, at most maxReasons.
type reasons []string

func (r *reasons) add(pointer, message string) {
	if len(*r) == maxReasons {
		return
	}
	if pointer != "" {
		message = pointer + ": " + message
	}
	*r = append(*r, message)
}

// decoded decodes a schema. It keeps numbers as text, so that no digits are lost.
func decoded(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read a schema: %w", err)
	}
	return value, nil
}

// prefixed adds the prefix to the front of each sentence.
func prefixed(prefix string, sentences []string) []string {
	all := make([]string, 0, len(sentences))
	for _, sentence := range sentences {
		all = append(all, prefix+sentence)
	}
	return all
}
