package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// reasons collects up to maxReasons sentences about a schema.
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

// decoded decodes a schema. Numbers stay text, so that they keep all their digits.
func decoded(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read a schema: %w", err)
	}
	return value, nil
}

// prefixed returns the sentences, each with the prefix in front.
func prefixed(prefix string, sentences []string) []string {
	all := make([]string, 0, len(sentences))
	for _, sentence := range sentences {
		all = append(all, prefix+sentence)
	}
	return all
}
