package skillsapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
)

// operation describes a route in the API description. Its bodies are described by the contract of the request and the
// type of the answer.
type operation struct {
	id, method, path, summary string
	about                     string
	contract                  string // name of the contract of the request; "" if there is none
	example                   string // example of the request
	status                    int    // status of a successful answer; 0 means 200
	answer                    reflect.Type
	refusals                  []fault.Code // errors of this route, in addition to the errors of every route
}

// operations lists the routes of Hang.
func operations() []operation {
	return []operation{
		{id: "listCallableSkills", method: http.MethodGet, path: "/skills/list", summary: "List skills", about: "Skills with a version, with their schemas. The list is complete.", answer: reflect.TypeFor[skillListing](), refusals: []fault.Code{fault.InvalidInput}},
		{id: "executeSkill", method: http.MethodPost, path: "/skills/execute", summary: "Run a skill. A failure is returned with success: false", about: "Validates args, runs the latest version of the skill and waits for it. If the skill fails, the status is 200 with success: false, and the answer contains the log and the provenance.", example: `{"skill":"greet","args":{"name":"Grace"}}`, contract: "execute", answer: reflect.TypeFor[executionResult](), refusals: []fault.Code{fault.InvalidInput, fault.SecretMissing, fault.QueueFull, fault.SandboxUnavailable}},
		{id: "registerSkill", method: http.MethodPost, path: "/skills/register", summary: "Register and install a skill", about: "Publishes a version of a skill, from the code in the request or from the folder of the skill in the skills directory.", example: `{"name":"greet","version":"1.0.0","description":"Greets somebody.","handler_path":"greet.main","input_schema":{"type":"object"},"output_schema":{"type":"object"},"code":"def main(name):\n    return {\"text\": \"Hello, \" + name}\n"}`, contract: "register", status: http.StatusCreated, answer: reflect.TypeFor[skillMetadata](), refusals: []fault.Code{fault.Forbidden, fault.Conflict, fault.InvalidInput}},
		{id: "getCallableSkill", method: http.MethodGet, path: "/skills/{id}", summary: "Get a skill", about: "The latest version of the skill with its schemas.", answer: reflect.TypeFor[skillMetadata](), refusals: []fault.Code{fault.NotFound}},
		{id: "getSkillSchemas", method: http.MethodGet, path: "/skills/{id}/schema", summary: "Get the schemas of a skill", about: "The schemas of the input and the output of the latest version.", answer: reflect.TypeFor[skillSchemas](), refusals: []fault.Code{fault.NotFound}},
		{id: "listInstalledSkills", method: http.MethodGet, path: "/v1/skills", summary: "List installed skills, with origin and digest", about: "The field skills lists skills with a version, and the field drafts lists drafts that wait for promotion. The list is complete.", answer: reflect.TypeFor[installedSkills]()},
		{id: "createSkill", method: http.MethodPost, path: "/v1/skills/create", summary: "Create a draft of a skill in Python", about: "Checks the code against the rules for created skills and saves it as a draft. If the action of control_decision is block, the code is rejected (error_type rejected_by_authority); with escalate it stays a draft. Other statements of the client about the code have no effect.", example: `{"name":"greet","code":"def run(action, args):\n    return {\"text\": \"Hello\"}\n","description":"Greets somebody by name."}`, contract: "create", answer: reflect.TypeFor[skillVerdict](), refusals: []fault.Code{fault.Forbidden, fault.Conflict}},
		{id: "runSkill", method: http.MethodPost, path: "/v1/skills/run", summary: "Run a skill by action", about: "Runs the latest version of the skill, with action and args as its input.", example: `{"name":"greet","action":"run","args":{"name":"Grace"}}`, contract: "run", answer: reflect.TypeFor[skillRun](), refusals: []fault.Code{fault.SecretMissing, fault.QueueFull, fault.SandboxUnavailable}},
		{id: "installSkillFrom", method: http.MethodPost, path: "/v1/skills/install", summary: "Install a skill: by name, from a URL, from files, or from a .tar.gz sent as application/gzip", about: "Set exactly one of name, url and files, or send the archive itself.", example: `{"name":"greet"}`, contract: "install", answer: reflect.TypeFor[skillInstallation](), refusals: []fault.Code{fault.Forbidden, fault.NotFound, fault.Conflict, fault.InvalidInput}},
		{id: "uninstallSkillByName", method: http.MethodPost, path: "/v1/skills/uninstall", summary: "Uninstall a skill", about: "Its versions, runs and name are kept. Installing it by name restores it.", example: `{"name":"greet"}`, contract: "uninstall", answer: reflect.TypeFor[skillUninstalled](), refusals: []fault.Code{fault.Forbidden, fault.NotFound, fault.Conflict}},
		{id: "promoteSkillByName", method: http.MethodPost, path: "/v1/skills/promote", summary: "Publish a skill's draft", about: "Publishes the draft as a version. The next call of the skill uses it.", example: `{"name":"greet","changelog":"Faster."}`, contract: "promote", answer: reflect.TypeFor[skillPromotion](), refusals: []fault.Code{fault.Forbidden, fault.NotFound, fault.Conflict, fault.InvalidInput}},
		{id: "findSkillForTask", method: http.MethodPost, path: "/v1/skills/autonomous_skill_task", summary: "Find a skill for a task, or create one", about: "Returns a published tool that fits the task. If none fits, the language model writes one, which is checked, run and saved as a draft (see POST /api/v1/assist/tools). Also requires the scope run. If no model is configured, or its answers are not usable, success is false and error_type is model_unavailable.", example: `{"user_text":"Weather of a city.","input_example":{"city":"Oslo"}}`, contract: "autonomous_skill_task", answer: reflect.TypeFor[taskedSkill](), refusals: append([]fault.Code{fault.Forbidden, fault.Conflict, fault.InvalidInput, fault.QuotaExceeded}, fault.QueueFull, fault.SandboxUnavailable)},
		{id: "validateSkillCode", method: http.MethodPost, path: "/v1/validation/code", summary: "Check Python code against the rules for created skills", about: "The code is not run. The answer lists each violation with its position.", example: `{"code":"import os\n"}`, contract: "validate_code", answer: reflect.TypeFor[codeReport]()},
		{id: "listPriors", method: http.MethodPost, path: "/v1/context/priors", summary: "List the rules that match a description", about: "Lists rules of the workspace that share words with the description of the code to write, the best match first. If no rule shares a word, lists the critical rules.", example: `{"context":"download a file and parse yaml"}`, contract: "priors", answer: reflect.TypeFor[priorList]()},
		{id: "listImportableModules", method: http.MethodGet, path: "/v1/packages", summary: "List the modules that created skills may import", about: "Lists the only modules that the rules for created skills allow. The list is complete.", answer: reflect.TypeFor[importables]()},
		{id: "listInstalledPackages", method: http.MethodGet, path: "/v1/packages/installed", summary: "List packages in addition to the standard library", about: "Lists the packages that are installed for agents of the workspace, with their versions. The list is complete.", answer: reflect.TypeFor[importables]()},
		{id: "listContracts", method: http.MethodGet, path: "/v1/contracts", summary: "List the contracts", about: "Lists the names of the schemas that requests must match. The list is complete.", answer: reflect.TypeFor[contractNames]()},
		{id: "getContract", method: http.MethodGet, path: "/v1/contracts/{name}", summary: "Get the JSON Schema of a request, or of skill.yaml", about: "Returns the JSON Schema that the server uses to check requests of this kind.", refusals: []fault.Code{fault.NotFound}},
	}
}

// Describe adds the routes to the API description.
func (d *API) Describe(api *huma.OpenAPI) error {
	refusal := api.Components.Schemas.Schema(reflect.TypeFor[serviceError](), true, "ServiceError")
	for _, o := range operations() {
		op := &huma.Operation{
			OperationID: o.id, Method: o.method, Path: o.path, Tags: []string{"skills"}, Summary: o.summary, Description: o.about, Parameters: parameters(o.path), Responses: map[string]*huma.Response{},
			Security: gate.Security(o.method, o.path),
		}
		if o.contract != "" {
			var body huma.Schema
			c := d.contracts[o.contract]
			if c.err != nil {
				return c.err
			}
			if err := json.Unmarshal(c.text, &body); err != nil {
				return fmt.Errorf("contract %s: %w", o.contract, err)
			}
			var example any
			if err := json.Unmarshal([]byte(o.example), &example); err != nil {
				return fmt.Errorf("example of %s: %w", o.id, err)
			}
			content := map[string]*huma.MediaType{"application/json": {Schema: &body, Example: example}}
			if o.contract == "install" {
				content["application/gzip"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary", Description: fmt.Sprintf("At most %s.", bytesize.Text(folders.MaxArchive))}}
			}
			op.RequestBody = &huma.RequestBody{Required: true, Content: content}
			o.refusals = append(o.refusals, fault.BadRequest, fault.BodyTooLarge, fault.UnsupportedMediaType)
		}
		answer := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
		if o.answer != nil {
			answer = api.Components.Schemas.Schema(o.answer, true, o.answer.Name())
		}
		kind := "application/json"
		if o.id == "getContract" {
			kind = "application/schema+json"
		}
		op.Responses[number(max(o.status, http.StatusOK))] = &huma.Response{Description: "Done.", Content: map[string]*huma.MediaType{kind: {Schema: answer}}}
		for _, code := range append(o.refusals, fault.Unauthenticated, fault.Forbidden) {
			status := problem.Status(code)
			op.Responses[number(status)] = &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{"application/json": {Schema: refusal}}}
		}
		api.AddOperation(op)
	}
	return nil
}

func parameters(path string) []*huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	switch path {
	case "/skills/list":
		flags := &huma.Schema{Type: huma.TypeString}
		for _, flag := range safetyFlags() {
			flags.Enum = append(flags.Enum, flag)
		}
		return []*huma.Param{
			{Name: "tags", In: "query", Description: "Only skills with one of these tags.", Schema: &huma.Schema{Type: huma.TypeArray, Items: text}},
			{Name: "safety_flag", In: "query", Description: "Only skills with this safety flag.", Schema: flags},
		}
	case "/skills/{id}", "/skills/{id}/schema":
		return []*huma.Param{{Name: "id", In: "path", Required: true, Description: "Name of the skill.", Example: "greet", Schema: text}}
	case "/v1/contracts/{name}":
		return []*huma.Param{{Name: "name", In: "path", Required: true, Description: "Name of the contract.", Example: "execute", Schema: text}}
	}
	return nil
}
