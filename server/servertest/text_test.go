package servertest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// A control character in a text that people read must be refused with the name of the field. It must not cause an
// internal error.
func TestControlCharacters_Refused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"skills-builtin": "false"}))
	s.Create(t, map[string]any{"name": "one", "language": "python", "code": "def main(): return 1"})
	s.Publish(t, "one", "1.0.0")
	s.Want(t, 200, "PUT", agentsPath+"/one", map[string]any{"code": "def main(): return 2"}, servertest.Headers{"If-Match": "*"})
	agent := func(more string) string {
		return `{"name":"two","language":"python","code":"def main(): return 1",` + more + `}`
	}
	skill := func(text string) string {
		return `{"name":"greet","version":"1.0.0","handler_path":"greet.main","input_schema":{"type":"object"},"output_schema":{"type":"object"},"code":"def main(): return dict()",` + text + `}`
	}
	for name, tt := range map[string]struct{ method, path, body, pointer string }{
		"description":            {"POST", agentsPath, agent(`"description":%s`), "/description"},
		"title":                  {"POST", agentsPath, agent(`"title":%s`), "/title"},
		"tag":                    {"POST", agentsPath, agent(`"tags":[%s]`), "/tags"},
		"saved description":      {"PUT", agentsPath + "/one", `{"description":%s}`, "/description"},
		"patched description":    {"PATCH", agentsPath + "/one", `{"description":%s}`, "/description"},
		"changelog":              {"POST", agentsPath + "/one/versions", `{"bump":"major","changelog":%s}`, "/changelog"},
		"comment":                {"POST", agentsPath + "/one/versions", `{"version":"1.0.1","force":true,"comment":%s}`, "/comment"},
		"reason":                 {"PATCH", agentsPath + "/one/versions/1.0.0", `{"deprecated":true,"reason":%s}`, "/reason"},
		"label of a save":        {"PATCH", agentsPath + "/one/draft/history/1", `{"label":%s}`, "/label"},
		"label of pins":          {"PUT", "/api/v1/pins", `{"owner":"o","label":%s,"references":["one@1.0.0"]}`, "/label"},
		"owner of pins":          {"PUT", "/api/v1/pins", `{"owner":%s,"references":["one@1.0.0"]}`, "/owner"},
		"title of a set":         {"PUT", "/api/v1/tool-sets/travel", `{"title":%s,"references":["one@1.0.0"]}`, "/title"},
		"description of a set":   {"PUT", "/api/v1/tool-sets/travel", `{"description":%s,"references":["one@1.0.0"]}`, "/description"},
		"name of a token":        {"POST", "/api/v1/tokens", `{"name":%s}`, "/name"},
		"note":                   {"POST", "/api/v1/invitations", `{"role":"viewer","note":%s}`, "/note"},
		"title of a workspace":   {"POST", "/api/v1/workspaces", `{"name":"other","title":%s}`, "/title"},
		"description of a skill": {"POST", "/skills/register", skill(`"description":%s`), "/description"},
		"tag of a skill":         {"POST", "/skills/register", skill(`"description":"Greets","tags":[%s]`), "/tags"},
		"created skill":          {"POST", "/v1/skills/create", `{"name":"greet","code":"def run(action, args): return {}","description":%s}`, "/description"},
	} {
		for _, character := range []string{"\x00", "\x01", "\x1b", "\x7f", "\u0085", "\ufffe"} {
			text, err := json.Marshal("a text with " + character + " in it")
			if err != nil {
				t.Fatal(err)
			}
			answer := s.Do(t, tt.method, tt.path, fmt.Sprintf(tt.body, text), servertest.Headers{"If-Match": map[string]string{"PUT": "*"}[tt.method]})
			refused := answer.Status == 422 || tt.path == "/v1/skills/create" && answer.Status == 400
			if !refused || !strings.Contains(string(answer.Body), tt.pointer) {
				t.Errorf("%s with %q: %d %s", name, text, answer.Status, answer.Body)
			}
		}
		text := "more than one line\n\tand \u2028 and 日本語 and 😀"
		body, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if answer := s.Do(t, tt.method, tt.path, fmt.Sprintf(tt.body, body), servertest.Headers{"If-Match": map[string]string{"PUT": "*"}[tt.method]}); answer.Status >= 500 || strings.Contains(string(answer.Body), "control characters") {
			t.Errorf("%s with %q: %d %s", name, text, answer.Status, answer.Body)
		}
	}
}
