package skillsapi_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/skillsapi"
)

// FuzzMessages sends a message as the body of every route of the skills API. Each body must be accepted, or be refused
// as an error of the client.
func FuzzMessages(f *testing.F) {
	for _, body := range []string{
		`{"skill":"greet","args":{"name":"Ada"},"actor_id":null,"metadata":{}}`,
		`{"name":"greet","version":"1.0.0","description":"x","input_schema":{},"output_schema":{},"handler_path":"a.b","files":{"a.py":{"base64":"eA=="}}}`,
		`{"name":"greet","code":"x","description":"Greets a person.","validation_score":1e999,"control_decision":{"a":[]}}`,
		`{"name":"greet","files":{"../x":{"base64":"!"}},"url":"x"}`, `{"name":1}`, `[]`, `null`, `{"name":"a","name":"b"}`, `{"revision":1.5,"name":"x"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, err := range skillsapi.DecodeAll(body) {
			if err == nil {
				continue
			}
			switch code := fault.CodeOf(err); code {
			case fault.InvalidInput, fault.BadRequest, fault.BodyTooLarge:
			default:
				t.Fatalf("%s: %q is %s: %v", name, body, code, err)
			}
		}
	})
}
