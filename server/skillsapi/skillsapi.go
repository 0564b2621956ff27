// Package skillsapi is the door for clients of existing skill executors: their routes, field by field, on the verbs that
// every other door calls. Requests are held to published contracts; errors have the forms and statuses that those clients
// read. What it decides is decoding only.
package skillsapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/skills"
)

// Options configures a Door.
type Options struct {
	Skills    *skills.Service
	Agents    *agents.Service
	Problems  problem.Writer
	BodyBytes int64
	Now       func() time.Time
	NewID     func() string
}

// API is safe for concurrent use.
type API struct {
	Options
	contracts contracts
}

// New returns the door.
func New(o Options) *API { return &API{Options: o, contracts: newContracts()} }

// Hang puts the door's routes into a router.
func (d *API) Hang(r chi.Router) {
	r.Get("/skills/list", d.listSkills)
	r.Post("/skills/execute", d.execute)
	r.Post("/skills/register", d.register)
	r.Get("/skills/{id}", d.getSkill)
	r.Get("/skills/{id}/schema", d.getSchema)
	r.Get("/v1/skills", d.installed)
	r.Post("/v1/skills/create", d.create)
	r.Post("/v1/skills/run", d.run)
	r.Post("/v1/skills/install", d.install)
	r.Post("/v1/skills/uninstall", d.uninstall)
	r.Post("/v1/skills/promote", d.promote)
	r.Post("/v1/validation/code", d.validateCode)
	r.Get("/v1/packages", d.packages)
	r.Get("/v1/packages/installed", d.installedPackages)
	r.Get("/v1/contracts", d.listContracts)
	r.Get("/v1/contracts/{name}", d.getContract)
}

// actor is who asks. The gate lets nothing through to these routes without one.
func actor(r *http.Request) registry.Actor {
	caller, _ := gate.CallerOf(r.Context())
	return caller.Actor
}

// write answers with JSON in which <, > and & stay as they are.
func (d *API) write(w http.ResponseWriter, r *http.Request, status int, v any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		d.refuse(w, r, err, nil)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // the client has gone: there is nobody to tell
}

// serviceError is a refusal. Detail is a sentence, or what is wrong where in a body, as the framework of such services has it.
type serviceError struct {
	Detail any            `json:"detail"`
	Code   string         `json:"code"`
	Errors []fault.Detail `json:"errors"`
}

// refuse answers with {"detail": …}, which is where these clients look, and the code and places of the fault beside it. Detail is
// the fault's sentence unless another form is given.
func (d *API) refuse(w http.ResponseWriter, r *http.Request, err error, detail any) {
	doc := d.Problems.Describe(r.Context(), err)
	for name, values := range doc.GetHeaders() {
		w.Header()[name] = values
	}
	if detail == nil {
		detail = sentence(doc)
	}
	d.write(w, r, doc.Status, serviceError{detail, string(doc.Code), orNone(doc.Errors)})
}

// sentence is a problem in words, with what is wrong where.
func sentence(doc *problem.Document) string {
	text := doc.Detail
	for _, e := range doc.Errors {
		text += " " + place(e) + e.Message
	}
	return text
}

func place(d fault.Detail) string {
	switch {
	case d.Pointer != "":
		return d.Pointer + " "
	case d.File != "" && d.Line > 0:
		return d.File + ":" + number(d.Line) + ": "
	case d.File != "":
		return d.File + ": "
	}
	return ""
}

func orNone(details []fault.Detail) []fault.Detail {
	if details == nil {
		return []fault.Detail{}
	}
	return details
}
