package skillsapi

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/invopop/jsonschema"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/server/gate"
)

// These types are the request bodies of this API. Their JSON Schemas are generated from the types and are published.
// Every body must match the schema of its type.
type (
	executeRequest struct {
		Skill     string          `json:"skill" jsonschema:"description=Name of the skill."`
		Args      json.RawMessage `json:"args" jsonschema:"description=Input of the skill."`
		RequestID *string         `json:"request_id,omitempty" jsonschema:"nullable,description=Your own ID of the request. It is kept with the run."`
		ActorID   *string         `json:"actor_id,omitempty" jsonschema:"nullable,description=Kept with the run and returned in the provenance. It grants nothing."`
		ActorType *string         `json:"actor_type,omitempty" jsonschema:"nullable"`
		Metadata  json.RawMessage `json:"metadata,omitempty" jsonschema:"nullable"`
	}
	registerRequest struct {
		Name             string                   `json:"name" jsonschema:"pattern=^[a-z][a-z0-9_-]{0\\,62}$"`
		Version          string                   `json:"version" jsonschema:"pattern=^[0-9]+\\.[0-9]+\\.[0-9]+$"`
		Description      string                   `json:"description" jsonschema:"minLength=1,maxLength=4000"`
		SafetyFlags      []string                 `json:"safety_flags,omitempty" jsonschema:"enum=none,enum=pii_risk,enum=external_call,enum=side_effect,enum=file_system,enum=network_access"`
		RequiresApproval bool                     `json:"requires_approval,omitempty"`
		InputSchema      json.RawMessage          `json:"input_schema"`
		OutputSchema     json.RawMessage          `json:"output_schema"`
		HandlerPath      string                   `json:"handler_path" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$,description=FILE.FUNCTION of the handler. The files are sent along or are in the folder NAME of the skills directory."`
		Tags             []string                 `json:"tags,omitempty" jsonschema:"nullable,maxItems=20"`
		Code             string                   `json:"code,omitempty" jsonschema:"maxLength=1000000,description=Source code of the handler in Python."`
		Files            map[string]registry.File `json:"files,omitempty" jsonschema:"description=Files of the program by path\\, instead of code."`
	}
	createRequest struct {
		Name            string          `json:"name" jsonschema:"pattern=^[a-z0-9_]+$,maxLength=64"`
		Code            string          `json:"code,omitempty" jsonschema:"minLength=1,maxLength=50000,description=Python with run(action\\, args)."`
		Script          string          `json:"script,omitempty" jsonschema:"minLength=1,maxLength=50000,description=Alias of code."`
		Description     string          `json:"description" jsonschema:"minLength=10,maxLength=1000"`
		Triggers        []string        `json:"triggers,omitempty" jsonschema:"nullable,maxItems=20"`
		AutoPromote     bool            `json:"auto_promote,omitempty" jsonschema:"description=Promote the skill if all checks pass."`
		GapPatterns     []string        `json:"gap_patterns,omitempty" jsonschema:"nullable,maxItems=100"`
		GapQuestion     *string         `json:"gap_question,omitempty" jsonschema:"nullable"`
		PreferredModel  *string         `json:"preferred_model,omitempty" jsonschema:"nullable"`
		DefaultParams   json.RawMessage `json:"default_params,omitempty" jsonschema:"nullable"`
		Revision        int64           `json:"revision,omitempty" jsonschema:"minimum=1,description=The revision of the draft that this one replaces; refused with stale_draft if it is another. Whatever the draft is\\, without it."`
		ControlDecision json.RawMessage `json:"control_decision,omitempty" jsonschema:"nullable,description=What the client decided. action block rejects the skill\\, escalate keeps it a draft. An approval is kept to be read and is not trusted."`
		ValidationScore *float64        `json:"validation_score,omitempty" jsonschema:"nullable,description=Kept likewise."`
	}
	runRequest struct {
		Name   string          `json:"name"`
		Action string          `json:"action,omitempty" jsonschema:"maxLength=200,description=Action (default: run)."`
		Args   json.RawMessage `json:"args,omitempty"`
	}
	installRequest struct {
		Name  string                   `json:"name,omitempty" jsonschema:"description=Name of a skill that was uninstalled\\, is in the skills directory\\, or is listed in the public registry; there also PUBLISHER/NAME."`
		URL   string                   `json:"url,omitempty" jsonschema:"maxLength=2000,description=URL of a .tar.gz on a granted host."`
		Files map[string]registry.File `json:"files,omitempty" jsonschema:"description=Files of a skill by path."`
	}
	uninstallRequest struct {
		Name  string `json:"name"`
		Force bool   `json:"force,omitempty" jsonschema:"description=Uninstall even if others reference a version."`
	}
	promoteRequest struct {
		Name      string `json:"name"`
		Version   string `json:"version,omitempty" jsonschema:"description=Version number (default: the number suggested from the changes)."`
		Changelog string `json:"changelog,omitempty" jsonschema:"maxLength=10000"`
		Comment   string `json:"comment,omitempty" jsonschema:"maxLength=10000,description=Why the number may be smaller than advised."`
		Revision  int64  `json:"revision,omitempty" jsonschema:"minimum=1,description=Revision of the draft that you last read. Refused with stale_draft if the draft has changed since (default: the current draft)."`
	}
	autonomousRequest struct {
		UserText     string          `json:"user_text" jsonschema:"minLength=1,maxLength=20000,description=The task in words."`
		Intent       *string         `json:"intent,omitempty" jsonschema:"nullable,maxLength=2000,description=More words about the task."`
		InputExample json.RawMessage `json:"input_example,omitempty" jsonschema:"nullable,description=A valid input. A tool that refuses it does not fit."`
		AutoPromote  bool            `json:"auto_promote,omitempty" jsonschema:"description=Publish a new tool if the gate approves it or only warns\\, and the caller has the scope approve."`
	}
	validateRequest struct {
		Code string `json:"code" jsonschema:"minLength=1,maxLength=1000000"`
	}
	priorsRequest struct {
		Context string `json:"context" jsonschema:"maxLength=10000,description=What the code will do in words."`
	}
)

type contract struct {
	text     []byte
	compiled *schema.Schema
	err      error
}

type contracts map[string]contract

// newContracts creates the schema of each request body and of skill.yaml.
func newContracts() contracts {
	all := contracts{}
	for name, v := range map[string]any{
		"execute": executeRequest{}, "register": registerRequest{}, "create": createRequest{}, "run": runRequest{}, "install": installRequest{},
		"uninstall": uninstallRequest{}, "promote": promoteRequest{}, "autonomous_skill_task": autonomousRequest{}, "validate_code": validateRequest{}, "priors": priorsRequest{},
	} {
		reflector := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true, AllowAdditionalProperties: true, Mapper: anyObject}
		s := reflector.Reflect(v)
		s.Title = "Request " + name
		nullable(s)
		all[name] = compiled(json.MarshalIndent(s, "", "  "))
	}
	all["skill"] = compiled(folders.Schema())
	return all
}

func compiled(text []byte, err error) contract {
	if err != nil {
		return contract{err: err}
	}
	c, err := schema.Compile(text)
	return contract{text: text, compiled: c, err: err}
}

// anyObject describes a member whose value is an arbitrary object, or the content of a file.
func anyObject(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Type: "object"}
	case reflect.TypeFor[registry.File]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Type: "string"}, {Type: "object", Required: []string{"base64"}, Extras: map[string]any{"properties": map[string]any{"base64": map[string]any{"type": "string"}}}},
		}}
	}
	return nil
}

// nullable rewrites schemas so that they allow null in standard JSON Schema. This is needed because the library uses
// another form.
func nullable(s *jsonschema.Schema) {
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		p := pair.Value
		if len(p.OneOf) == 2 && p.OneOf[1].Type == "null" {
			inner := p.OneOf[0]
			pair.Value = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{inner, {Type: "null"}}, Description: inner.Description}
			inner.Description = ""
		}
	}
}

type contractNames struct {
	Contracts []string `json:"contracts"`
}

func (d *API) listContracts(w http.ResponseWriter, r *http.Request) {
	d.write(w, r, http.StatusOK, contractNames{slices.Sorted(maps.Keys(d.contracts))})
}

func (d *API) getContract(w http.ResponseWriter, r *http.Request) {
	c, ok := d.contracts[chi.URLParam(r, "name")]
	switch {
	case !ok:
		d.refuse(w, r, fault.New(fault.NotFound, "Contract not found. GET /v1/contracts lists all contracts."), nil)
	case c.err != nil:
		d.refuse(w, r, c.err, nil)
	default:
		w.Header().Set("Content-Type", "application/schema+json")
		_, _ = w.Write(append(c.text, '\n')) // The client may have disconnected.
	}
}

// decode decodes a body and checks it against its schema. The error lists every member that does not match.
func (d *API) decode(w http.ResponseWriter, r *http.Request, name string, into any) error {
	body, value, err := gate.Document(w, r, d.BodyBytes)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return fault.Invalid("", "The body is missing. GET /v1/contracts/%s describes it.", name)
	}
	c := d.contracts[name]
	if c.err != nil {
		return c.err
	}
	if details := c.compiled.ValidateValue(value); len(details) > 0 {
		return &fault.Error{Code: fault.InvalidInput, Message: "The request does not match the contract " + name + ".", Details: details}
	}
	if err := jcs.Unmarshal(body, into); err != nil {
		return &fault.Error{Code: fault.InvalidInput, Message: "The request does not match the contract " + name + ".",
			Details: []fault.Detail{{Message: "has the wrong type"}}, Err: err}
	}
	return nil
}

// outOfContract formats the error about a rejected body in the form of the web framework that such services use.
func outOfContract(err error) any {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidInput || len(f.Details) == 0 {
		return nil
	}
	type problem struct {
		Type string   `json:"type"`
		Loc  []string `json:"loc"`
		Msg  string   `json:"msg"`
	}
	all := make([]problem, 0, len(f.Details))
	for _, e := range f.Details {
		all = append(all, problem{Type: "value_error", Loc: append([]string{"body"}, tokens(e.Pointer)...), Msg: e.Message})
	}
	return all
}

func number(n int) string { return strconv.Itoa(n) }
