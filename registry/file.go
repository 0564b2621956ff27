package registry

import (
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// File is the content of one file. In JSON a text is a string and anything else is {"base64":"…"}.
type File []byte

// MarshalJSON writes UTF-8 as a string, other bytes as base64.
func (f File) MarshalJSON() ([]byte, error) {
	if utf8.Valid(f) {
		return json.Marshal(string(f))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(f)})
}

// UnmarshalJSON reads either form.
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
		Base64 []byte `json:"base64"`
	}
	if err := json.Unmarshal(data, &binary); err != nil {
		return err
	}
	*f = File(binary.Base64)
	return nil
}
