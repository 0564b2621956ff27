package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
)

const (
	defaultPage = 50
	largestPage = 200
)

// pageSize returns the requested page size, within its limits.
func pageSize(limit int) int {
	switch {
	case limit <= 0:
		return defaultPage
	case limit > largestPage:
		return largestPage
	}
	return limit
}

// cursor is a position in a list. List contains the name and the order of the list, so that readCursor can reject the
// cursor of another list.
type cursor struct {
	List string          `json:"list"`
	Key  json.RawMessage `json:"key"`
}

// cursorAt encodes the sort key of the last row of a page. The result is base64, so that clients do not depend on its
// format.
func cursorAt(list string, key any) (string, error) {
	raw, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(cursor{list, raw})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(text), nil
}

// readCursor decodes a cursor of a list into key. Error: InvalidInput.
func readCursor(list, given string, key any) error {
	var at cursor
	text, err := base64.RawURLEncoding.DecodeString(given)
	if err == nil {
		err = json.Unmarshal(text, &at)
	}
	if err == nil {
		err = json.Unmarshal(at.Key, key)
	}
	if err != nil || at.List != list || bytes.Contains(text, []byte(`\u0000`)) {
		return fault.Invalid("/cursor", "must be a nextCursor from this list. Start again without a cursor.")
	}
	return nil
}
