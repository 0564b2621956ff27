package registry

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// File is the content of one file. In JSON, text is a string and other content is {"base64":"…"}.
type File []byte

// MarshalJSON writes UTF-8 as a string and other bytes as base64.
func (f File) MarshalJSON() ([]byte, error) {
	if utf8.Valid(f) {
		return json.Marshal(string(f))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(f)})
}

var errFile = errors.New(`a file must be a string, or {"base64": "…"} for binary data`)

// UnmarshalJSON reads a string or {"base64":"…"}. It rejects every other value, such as null, because the file would
// become empty without an error.
func (f *File) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*f = File(text)
		return nil
	}
	var binary struct {
		Base64 *string `json:"base64"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&binary); err != nil || binary.Base64 == nil {
		return errFile
	}
	content, err := base64.StdEncoding.DecodeString(*binary.Base64)
	if err != nil {
		return errFile
	}
	*f = content
	return nil
}
