// Package skillsapi serves clients that were written for other skill executors. It has the routes and JSON fields of
// these executors. Requests must match published contracts, and errors have the forms and statuses that the clients
// expect. The package only translates requests and answers; it calls the same services as every other API.
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
	"github.com/atelier-run/atelier/studio/approvals"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/policy"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/skills"
	"github.com/atelier-run/atelier/studio/toolmaker"
)

// Options configures an API.
type Options struct {
	Skills    *skills.Service
	Agents    *agents.Service
	Packages  *packages.Service // nil if packages are not supported
	Approvals *approvals.Service
	Policy    *policy.Service
	Runs      *runs.Service
	Toolmaker *toolmaker.Service
	Problems  problem.Writer
	BodyBytes int64
	Now       func() time.Time
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	Options
	contracts contracts
}

// New returns an API.
func New(o Options) *API { return &API{Options: o, contracts: newContracts()} }

// Hang adds the routes of this API to a router.
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
	r.Post("/v1/skills/autonomous_skill_task", d.autonomousTask)
	r.Post("/v1/validation/code", d.validateCode)
	r.Post("/v1/context/priors", d.priors)
	r.Get("/v1/packages", d.packages)
	r.Get("/v1/packages/installed", d.installedPackages)
	r.Get("/v1/contracts", d.listContracts)
	r.Get("/v1/contracts/{name}", d.getContract)
}

// actor returns the actor of a request. The gate ensures that every request for these routes has an actor.
func actor(r *http.Request) registry.Actor {
	caller, _ := gate.CallerOf(r.Context())
	return caller.Actor
}

// write sends an answer as JSON without escaping <, > and &.
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
	_, _ = w.Write(text.Bytes()) // The client may have disconnected.
}

// serviceError is an error answer. Detail is a sentence or, for an error in a body, a list of errors in the format of
// the framework that such services use.
type serviceError struct {
	Detail any            `json:"detail"`
	Code   string         `json:"code"`
	Errors []fault.Detail `json:"errors"`
}

// refuse answers with {"detail": …}, which these clients read, and adds the code and details of the fault. If no detail
// is given, detail is the fault's message.
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

// sentence formats a problem document and its details as text.
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
