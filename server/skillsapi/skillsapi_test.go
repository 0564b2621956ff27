package skillsapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/server/skillsapi"
)

func newAPI() chi.Router {
	router := chi.NewRouter()
	skillsapi.New(skillsapi.Options{Problems: problem.Writer{}, BodyBytes: 1 << 20, Now: time.Now}).Hang(router)
	return router
}

func ask(t *testing.T, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	newAPI().ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestEveryRouteIsDescribed checks that the description contains exactly the registered routes.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	api := &huma.OpenAPI{Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)}}
	if err := skillsapi.New(skillsapi.Options{}).Describe(api); err != nil {
		t.Fatal(err)
	}
	described := map[string]*huma.Operation{}
	for path, item := range api.Paths {
		for method, op := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post} {
			if op != nil {
				described[method+" "+path] = op
			}
		}
	}
	err := chi.Walk(newAPI(), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		op := described[method+" "+route]
		if op == nil || op.OperationID == "" || op.Summary == "" || (op.RequestBody != nil) != (method == "POST") {
			t.Errorf("%s %s is described as %+v", method, route, op)
		}
		delete(described, method+" "+route)
		return nil
	})
	if err != nil || len(described) != 0 {
		t.Errorf("described and not there: %v, %v", described, err)
	}
}

// TestContractsAreWhatIsEnforced checks that each contract compiles. A body that does not match its contract must be
// rejected in the form that clients of the route expect.
func TestContractsAreWhatIsEnforced(t *testing.T) {
	t.Parallel()
	_, text := ask(t, "GET", "/v1/contracts", "")
	var names struct{ Contracts []string }
	if err := json.Unmarshal([]byte(text), &names); err != nil || len(names.Contracts) != 11 || !slices.IsSorted(names.Contracts) {
		t.Errorf("the contracts are %v, %v", names, err)
	}
	for _, name := range names.Contracts {
		status, text := ask(t, "GET", "/v1/contracts/"+name, "")
		if _, err := schema.Compile([]byte(text)); err != nil || status != 200 {
			t.Errorf("%s: %d %v", name, status, err)
		}
	}
	if status, text := ask(t, "GET", "/v1/contracts/none", ""); status != 404 || !strings.Contains(text, `"detail":"Contract not found`) {
		t.Errorf("no contract: %d %s", status, text)
	}
}

// TestRefusedBodies checks that rejected bodies have the statuses and forms of the services that these clients use: a
// list of positions for /skills, and a sentence for /v1.
func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 65)
	for name, tt := range map[string]struct {
		path, body string
		status     int
		part       string
	}{
		"no args":            {"/skills/execute", `{"skill": "echo"}`, 422, `"detail":[{"type":"value_error","loc":["body"`},
		"args that are none": {"/skills/execute", `{"skill": "echo", "args": []}`, 422, `"loc":["body","args"]`},
		"no body":            {"/skills/execute", ``, 422, "GET /v1/contracts/execute describes"},
		"no JSON":            {"/skills/execute", `{`, 400, `"code":"bad_request"`},
		"a flag":             {"/skills/register", `{"safety_flags": ["fine"]}`, 422, `"safety_flags"`},
		"a name with case":   {"/v1/skills/create", `{"name": "Adder", "description": "Adds numbers up.", "code": "x"}`, 400, `"detail":"Contract Violation: /name`},
		"a long name":        {"/v1/skills/create", `{"name": "` + long + `", "description": "Adds numbers up.", "code": "x"}`, 400, "Contract Violation: /name"},
		"a short text":       {"/v1/skills/create", `{"name": "adder", "description": "Adds", "code": "x"}`, 400, "Contract Violation: /description"},
		"no code":            {"/v1/skills/create", `{"name": "adder", "description": "Adds numbers up."}`, 400, "set either script or code"},
		"code twice":         {"/v1/skills/create", `{"name": "adder", "description": "Adds numbers up.", "code": "x", "script": "x"}`, 400, "set either script or code"},
		"no name to run":     {"/v1/skills/run", `{"args": {}}`, 400, "Contract Violation:"},
		"nothing to install": {"/v1/skills/install", `{}`, 400, "Set exactly one of name, url and files"},
		"two to install":     {"/v1/skills/install", `{"name": "a", "url": "https://a.example/b.tar.gz"}`, 400, "Set exactly one of name, url and files"},
		"no name to remove":  {"/v1/skills/uninstall", `{"force": true}`, 400, "Contract Violation:"},
		"no name to promote": {"/v1/skills/promote", `{}`, 400, "Contract Violation:"},
		"no task":            {"/v1/skills/autonomous_skill_task", `{"intent": "count"}`, 400, "Contract Violation:"},
		"no code to check":   {"/v1/validation/code", `{"code": ""}`, 400, "Contract Violation: /code"},
	} {
		status, text := ask(t, "POST", tt.path, tt.body)
		if status != tt.status || !strings.Contains(text, tt.part) {
			t.Errorf("%s: %d %s, want %d with %s", name, status, text, tt.status, tt.part)
		}
	}
	if status, text := ask(t, "GET", "/skills/list?safety_flag=fine", ""); status != 422 || !strings.Contains(text, `"loc":["query","safety_flag"]`) {
		t.Errorf("a flag that is none: %d %s", status, text)
	}
	if status, text := ask(t, "POST", "/v1/skills/install", "", "Content-Type", "application/gzip"); status != 400 || !strings.Contains(text, "The archive is empty") {
		t.Errorf("an empty archive: %d %s", status, text)
	}
}

// TestPackagesAreThoseOfTheRules checks that the listed packages are those that the rules allow to import.
func TestPackagesAreThoseOfTheRules(t *testing.T) {
	t.Parallel()
	status, text := ask(t, "GET", "/v1/packages", "")
	if status != 200 || !strings.Contains(text, `{"name":"json","source":"standard_library"}`) || strings.Contains(text, `"name":"os"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text = ask(t, "GET", "/v1/packages/installed", ""); status != 200 || !strings.Contains(text, `"packages":[],"count":0`) {
		t.Errorf("%d %s", status, text)
	}
}
