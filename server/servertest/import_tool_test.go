package servertest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// importable is a function definition in the format of OpenAI.
const importable = `{"type":"function","function":{"name":"getForecast","description":"Forecasts.","parameters":{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}}}`

func TestImportTool_Draft_HasSchemasAndAStubThatCanBePublished(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, language := range []string{"typescript", "javascript", "python", "bash"} {
		name := "forecast-" + language
		made := s.Want(t, 201, "POST", "/api/v1/code-agents/import-tool", `{"language":"`+language+`","name":"`+name+`","tool":`+importable+`}`)
		var agent struct {
			Description string
			Draft       struct {
				Language    string
				InputSchema struct{ Required []string }
			}
		}
		made.Into(t, &agent)
		if agent.Description != "Forecasts." || agent.Draft.Language != language || len(agent.Draft.InputSchema.Required) != 1 {
			t.Errorf("the draft is %s", made.Body)
		}
		if notes := strings.Join(made.Header["Atelier-Warning"], " "); !strings.Contains(notes, "getForecast") || !strings.Contains(notes, "output") {
			t.Errorf("the notes are %s", notes)
		}
		s.Publish(t, name, "1.0.0")
		var run struct{ Status, Stderr string }
		ran := s.Want(t, 200, "POST", "/api/v1/code-agents/"+name+"/execute", `{"version":"1.0.0","input":{"city":"Oslo"}}`)
		ran.Into(t, &run)
		if run.Status != "failed" || !strings.Contains(string(ran.Body), "not implemented") {
			t.Errorf("the stub gives %s", ran.Body)
		}
		s.Want(t, 422, "POST", "/api/v1/code-agents/"+name+"/execute", `{"version":"1.0.0","input":{}}`)
	}
}

func TestImportTool_Wrong_NamesTheField(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for body, want := range map[string]string{
		`{"tool":{"name":"a"}}`: "/tool",
		`{"tool":{"type":"function","function":{"parameters":{}}}}`:     "/tool/function/name",
		`{"tool":{"name":"a","inputSchema":{"type":"nothing"}}}`:        "/tool/inputSchema/type",
		`{"tool":{"name":"天気","inputSchema":{}}}`:                       "/tool/name",
		`{"tool":{"name":"new","inputSchema":{}}}`:                      "/tool/name",
		`{"tool":{"name":"a","inputSchema":{}},"name":"A b"}`:           "/name",
		`{"tool":{"name":"a","description":"\u0007","inputSchema":{}}}`: "/tool/description",
		`{"tool":{"name":"a","inputSchema":{}},"language":"wasm"}`:      "/language",
		`{}`: "",
	} {
		refused := s.Want(t, 422, "POST", "/api/v1/code-agents/import-tool", body).Problem(t)
		if len(refused.Errors) == 0 || !strings.HasPrefix(refused.Errors[0].Pointer, want) || want == "" && refused.Errors[0].Pointer != "/tool" && refused.Errors[0].Pointer != "" {
			t.Errorf("%s is refused with %+v", body, refused)
		}
	}
	s.Want(t, 201, "POST", "/api/v1/code-agents/import-tool", `{"tool":{"name":"a","inputSchema":{}}}`)
	s.Want(t, 409, "POST", "/api/v1/code-agents/import-tool", `{"tool":{"name":"a","inputSchema":{}}}`)
}

func TestImportCommand(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	file := filepath.Join(t.TempDir(), "tool.json")
	if err := os.WriteFile(file, []byte(importable), 0o600); err != nil {
		t.Fatal(err)
	}
	where := []string{"--server", s.URL, "--token", s.Token}
	said := servertest.Command(t, "", append([]string{"import", "--tool", file, "--language", "python"}, where...)...)
	if said.Code != 0 || said.Stdout != "get-forecast\n" || !strings.Contains(said.Stderr, "note: The agent is named get-forecast.") {
		t.Errorf("import says %+v", said)
	}
	said = servertest.Command(t, `{"name":"b","inputSchema":7}`, append([]string{"import", "--tool", "-"}, where...)...)
	if said.Code == 0 || !strings.Contains(said.Stderr, "--tool /inputSchema must be") {
		t.Errorf("a wrong tool gives %+v", said)
	}
	said = servertest.Command(t, "{", append([]string{"import", "--tool", "-"}, where...)...)
	if said.Code != 2 || !strings.Contains(said.Stderr, "is not JSON") {
		t.Errorf("no JSON gives %+v", said)
	}
}
