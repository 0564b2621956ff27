package servertest_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/servertest"
)

type apiDescription struct {
	Servers []struct{ URL string }
	Tags    []struct{ Name string }
	Paths   map[string]map[string]apiOperation

	Components struct {
		Schemas map[string]json.RawMessage
	}
}

type apiOperation struct {
	OperationID, Description string
	Tags                     []string
	Parameters               []apiParameter
	RequestBody              *struct{ Content map[string]apiMedia }
	Responses                map[string]struct{ Content map[string]apiMedia }
	Security                 []map[string][]string
}

type apiParameter struct {
	Name, In, Description string
	Required              bool
	Schema, Example       json.RawMessage
}

type apiMedia struct{ Schema, Example json.RawMessage }

func (o apiOperation) parameter(in, name string) *apiParameter {
	i := slices.IndexFunc(o.Parameters, func(p apiParameter) bool { return p.In == in && p.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Parameters[i]
}

func describedBy(t *testing.T, s *servertest.Server) (api apiDescription) {
	t.Helper()
	s.Want(t, 200, "GET", "/openapi.json", nil).Into(t, &api)
	return api
}

// fits returns an error if an example does not match its schema.
func (api apiDescription) fits(text, example json.RawMessage) error {
	parts := map[string]json.RawMessage{}
	api.gather(text, parts)
	whole, err := json.Marshal(map[string]any{"$defs": parts, "allOf": []json.RawMessage{text}})
	if err != nil {
		return err
	}
	compiled, err := schema.Compile([]byte(strings.ReplaceAll(string(whole), `"#/components/schemas/`, `"#/$defs/`)))
	if err != nil {
		return err
	}
	if details := compiled.Validate(example); len(details) > 0 {
		return fmt.Errorf("%s does not fit its schema: %v", example, details)
	}
	return nil
}

// gather collects the schemas that a schema refers to.
func (api apiDescription) gather(text json.RawMessage, into map[string]json.RawMessage) {
	for part := range strings.SplitSeq(string(text), `"#/components/schemas/`) {
		name, _, _ := strings.Cut(part, `"`)
		if found := api.Components.Schemas[name]; found != nil && into[name] == nil {
			into[name] = found
			api.gather(found, into)
		}
	}
}

// The description of every operation must be complete: texts, examples, errors and pages.
func TestOperations_Described(t *testing.T) {
	t.Parallel()
	api := describedBy(t, servertest.New(t))
	if len(api.Servers) != 1 || api.Servers[0].URL != "/" {
		t.Errorf("servers: %v", api.Servers)
	}
	count := 0
	for path, methods := range api.Paths {
		for method, op := range methods {
			count++
			for _, fault := range api.incomplete(strings.ToUpper(method), path, op) {
				t.Errorf("%s %s (%s): %s", strings.ToUpper(method), path, op.OperationID, fault)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d operations", count)
	}
}

// unkeyed lists the POST operations without an Idempotency-Key. They change nothing, or their answer has a secret that
// must not be stored, or their clients do not know the header. PUT, PATCH and DELETE may be repeated without a key.
var unkeyed = []string{
	"readInvitation", "explainRoute", "validate", "tryRules", "format", "infer", "assistFix", "assistGenerate", "assistChange", "assistTool", "assistExplain", "assistComplete", "assistReview", "runTests", "resolveReferences", "validateSkillCode", "listPriors",
	"openSession", "acceptInvitation", "createToken", "createInvitation",
	"executeSkill", "registerSkill", "createSkill", "runSkill", "installSkillFrom", "uninstallSkillByName", "promoteSkillByName", "findSkillForTask", "importArchive", "importProject",
}

func (api apiDescription) incomplete(method, path string, op apiOperation) (faults []string) {
	fail := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if op.Description == "" || !strings.HasSuffix(op.Description, ".") {
		fail("no description")
	}
	for _, tag := range op.Tags {
		if !slices.ContainsFunc(api.Tags, func(known struct{ Name string }) bool { return known.Name == tag }) {
			fail("the tag %s is not described", tag)
		}
	}
	for _, p := range op.Parameters {
		if p.Description == "" || len(p.Example) == 0 {
			fail("parameter %s has no description or no example", p.Name)
		} else if err := api.fits(p.Schema, p.Example); err != nil {
			fail("parameter %s: %v", p.Name, err)
		}
	}
	if op.RequestBody != nil {
		if body, isJSON := op.RequestBody.Content["application/json"]; isJSON && len(body.Example) == 0 {
			fail("the body has no example")
		} else if err := api.fits(body.Schema, body.Example); isJSON && err != nil {
			fail("body: %v", err)
		}
	}
	faults = append(faults, api.unexemplified(op)...)
	if gate.NeedsCaller(method, path) {
		if op.parameter("header", "X-Workspace") == nil {
			fail("X-Workspace is not described")
		}
		for _, status := range []string{"400", "401", "403", "404", "429"} {
			if _, described := op.Responses[status].Content["application/problem+json"]; !described {
				fail("the refusal %s of the gate is not described", status)
			}
		}
	}
	match, refused := op.parameter("header", "If-Match"), op.Responses["428"].Content != nil
	if refused != (match != nil && match.Required) {
		fail("If-Match is required if and only if its absence is answered 428")
	}
	if method == "POST" && op.parameter("header", "Idempotency-Key") == nil && !slices.Contains(unkeyed, op.OperationID) {
		fail("Idempotency-Key is not described")
	}
	return append(faults, api.unpaged(method, op)...)
}

// unexemplified returns the name of the example that a successful answer lacks. Archives are binary, so they need no
// example.
func (api apiDescription) unexemplified(op apiOperation) (faults []string) {
	described, exemplified := false, false
	for status, answer := range op.Responses {
		for kind, media := range answer.Content {
			if status[0] != '2' || kind == "application/gzip" {
				continue
			}
			described = true
			if len(media.Example) == 0 {
				continue
			}
			exemplified = true
			if err := api.fits(media.Schema, media.Example); len(media.Schema) > 0 && err != nil {
				faults = append(faults, fmt.Sprintf("answer %s: %v", status, err))
			}
		}
	}
	if described && !exemplified {
		faults = append(faults, "the answer has no example")
	}
	return faults
}

// unpaged returns what the description of a list lacks: pages, or the statement that the list is complete.
func (api apiDescription) unpaged(method string, op apiOperation) []string {
	text := op.Responses["200"].Content["application/json"].Schema
	if method != "GET" || len(text) == 0 {
		return nil
	}
	var ref struct {
		Name string `json:"$ref"`
	}
	if err := json.Unmarshal(text, &ref); err != nil {
		return []string{err.Error()}
	}
	if ref.Name != "" {
		text = api.Components.Schemas[strings.TrimPrefix(ref.Name, "#/components/schemas/")]
	}
	var answer struct{ Properties map[string]any }
	if err := json.Unmarshal(text, &answer); err != nil {
		return []string{err.Error()}
	}
	_, items := answer.Properties["items"]
	_, paths := answer.Properties["paths"]
	if !items && !paths && !strings.HasPrefix(op.OperationID, "list") {
		return nil
	}
	_, next := answer.Properties["nextCursor"]
	paged := next && op.parameter("query", "limit") != nil && op.parameter("query", "cursor") != nil
	if complete := strings.Contains(op.Description, "The list is complete"); paged == complete {
		return []string{"a list is either paged or says that it is complete"}
	}
	return nil
}

// A list with pages must give the same items page by page as in a single answer. It must refuse the cursor of another
// list.
func TestLists_PageByPage_Same(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, name := range []string{"one", "two", "three"} {
		s.Create(t, map[string]any{"name": name, "language": "bash", "code": "echo 1"})
		s.Publish(t, name, "1.0.0")
		s.Want(t, 200, "PUT", "/api/v1/secrets/"+strings.ToUpper(name), map[string]any{"value": "a secret value"})
		s.Want(t, 201, "POST", "/api/v1/tokens", map[string]any{"name": name})
		s.Want(t, 200, "PUT", "/api/v1/tool-sets/"+name, map[string]any{"references": []string{name + "@1.0.0"}})
		s.Want(t, 201, "POST", "/api/v1/invitations", map[string]any{"role": "viewer"})
		s.Want(t, 201, "POST", "/api/v1/workspaces", map[string]any{"name": name})
		s.Want(t, 200, "PUT", agentsPath+"/one", map[string]any{"title": name}, servertest.Headers{"If-Match": "*"})
		s.Want(t, 201, "POST", agentsPath+"/one/versions", map[string]any{"bump": "major"})
	}
	s.Want(t, 200, "PUT", "/api/v1/pins", map[string]any{"owner": "flow", "references": []string{"one@1.0.0", "one@^1", "two@1.0.0"}})
	type page struct {
		Items      []json.RawMessage
		NextCursor string
	}
	list := func(path string) (p page) {
		s.Want(t, 200, "GET", path, nil).Into(t, &p)
		return p
	}
	other := list("/api/v1/tokens?limit=1").NextCursor
	for _, path := range []string{
		"/api/v1/secrets?", "/api/v1/tokens?", "/api/v1/tool-sets?", "/api/v1/invitations?", "/api/v1/workspaces?", "/api/v1/skills?", "/api/v1/members?", "/api/v1/sessions?",
		"/api/v1/pins?owner=flow&", agentsPath + "/one/pins?", agentsPath + "/one/versions?", agentsPath + "?", agentsPath + "/one/draft/history?",
	} {
		whole, items := list(path), []json.RawMessage{}
		for cursor, first := "", true; first || cursor != ""; first = false {
			p := list(path + "limit=1&cursor=" + url.QueryEscape(cursor))
			items, cursor = append(items, p.Items...), p.NextCursor
		}
		used := regexp.MustCompile(`,"lastUsedAt":"[^"]*"`) // The requests in between have changed this time.
		if got, want := used.ReplaceAllString(fmt.Sprintf("%s", items), ""), used.ReplaceAllString(fmt.Sprintf("%s", whole.Items), ""); got != want || whole.NextCursor != "" {
			t.Errorf("%s: page by page %d of %d items\n%s\n%s", path, len(items), len(whole.Items), got, want)
		}
		if path != "/api/v1/tokens?" {
			s.Want(t, 422, "GET", path+"cursor="+url.QueryEscape(other), nil)
		}
	}
}

// Answers must match their description even if they are empty: an object is never null.
func TestAnswers_FitTheirDescription(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	api := describedBy(t, s)
	checked := map[string]bool{}
	check := func(method, path string, op apiOperation, status string, body []byte) {
		checked[op.OperationID] = true
		if media, isJSON := op.Responses[status].Content["application/json"]; !isJSON {
			t.Errorf("%s %s: the answer %s is not described", method, path, status)
		} else if err := api.fits(media.Schema, body); err != nil {
			t.Errorf("%s %s: %v", method, path, err)
		}
	}
	for path, methods := range api.Paths {
		op, ok := methods["get"]
		if !ok || strings.Contains(path, "{") || len(op.Responses["200"].Content) == 0 || slices.ContainsFunc(op.Parameters, func(p apiParameter) bool { return p.Required }) {
			continue
		}
		if answer := s.Do(t, "GET", path, nil); answer.Status == 200 && strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
			check("GET", path, op, "200", answer.Body)
		}
	}
	created := s.Want(t, 200, "POST", "/v1/skills/create", `{"name": "adder", "description": "Adds numbers up.", "code": "def run(action, args):\n    return 1\n"}`)
	check("POST", "/v1/skills/create", api.Paths["/v1/skills/create"]["post"], "200", created.Body)
	for _, id := range []string{"listInstalledSkills", "listSignInMethods", "createSkill", "listAgents", "getSession"} {
		if !checked[id] {
			t.Errorf("%s was not checked", id)
		}
	}
	if len(checked) < 25 {
		t.Errorf("only %d answers were checked", len(checked))
	}
}
