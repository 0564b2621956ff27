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

// pageSize limits the requested page size.
func pageSize(limit int) int {
	switch {
	case limit <= 0:
		return defaultPage
	case limit > largestPage:
		return largestPage
	}
	return limit
}

// cursorAt encodes the sort key of a page's last row, so that callers do not rely on its format.
func cursorAt(key any) (string, error) {
	text, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(text), nil
}

// readCursor decodes a cursor into key. Error: InvalidInput.
func readCursor(cursor string, key any) error {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, key)
	}
	if err != nil || bytes.Contains(text, []byte(`\u0000`)) {
		return fault.Invalid("/cursor", "The cursor is not valid for this list. Start again without it.")
	}
	return nil
}
