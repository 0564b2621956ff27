package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/pins"
)

// PinsBody lists all references of an owner.
type PinsBody struct {
	Owner      string   `json:"owner" minLength:"1" maxLength:"200" doc:"Identifier of the owner, chosen by you, for example workflow:42/node:3."`
	Label      string   `json:"label,omitempty" maxLength:"200" doc:"Display name of the owner."`
	References []string `json:"references" maxItems:"200" doc:"References, for example weather@^1."`
}

// PinList lists references with the versions that they select now.
type PinList struct {
	Items      []registry.Pin `json:"items"`
	NextCursor string         `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// PinOwner is a query parameter that names an owner.
type PinOwner struct {
	Owner string `query:"owner" required:"true" minLength:"1" maxLength:"200" doc:"Identifier of the owner."`
}

type pinsAnswer struct {
	Renamed string `header:"Atelier-Renamed" doc:"Current name of the agent, if the request used a former name."`
	Body    PinList
}

func (a *API) putPins() {
	type in struct{ Body PinsBody }
	add(a, endpoint{
		id: "putPins", method: http.MethodPut, path: Base + "/pins", tag: "versions", summary: "Set the pins of an owner",
		about:      "Replaces all earlier pins of the owner. Each reference must resolve to a version.",
		idempotent: true, refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*pinsAnswer, error) {
		made, err := a.Pins.Put(ctx, actor(ctx), pins.Request(q.Body))
		return pinsOf(ListPaging{}, made, err)
	})
}

func (a *API) listOwnedPins() {
	type in struct {
		PinOwner
		ListPaging
	}
	add(a, endpoint{
		id: "listOwnedPins", method: http.MethodGet, path: Base + "/pins", tag: "versions", summary: "List the pins of an owner",
		about:    "Lists the references of an owner, with the version that each reference resolves to now.",
		refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*pinsAnswer, error) {
		pins, err := a.Pins.By(ctx, actor(ctx), q.Owner)
		return pinsOf(q.ListPaging, pins, err)
	})
}

func (a *API) deletePins() {
	add(a, endpoint{
		id: "deletePins", method: http.MethodDelete, path: Base + "/pins", tag: "versions", summary: "Remove all of an owner's pins",
		about:  "The owner's references no longer protect agents against deletion.",
		status: http.StatusNoContent, idempotent: true, refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *PinOwner) (*none, error) {
		return &none{}, a.Pins.Drop(ctx, actor(ctx), q.Owner)
	})
}

func (a *API) listPins() {
	type in struct {
		AgentRef
		ListPaging
	}
	add(a, endpoint{
		id: "listPins", method: http.MethodGet, path: Base + "/code-agents/{agent}/pins", tag: "versions", summary: "List the pins on an agent",
		about:    "Lists the owners of references to versions of the agent, with the version that each reference resolves to now.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*pinsAnswer, error) {
		pins, err := a.Pins.Of(ctx, actor(ctx), q.Agent)
		answer, err := pinsOf(q.ListPaging, pins, err)
		if err == nil {
			answer.Renamed = a.currentName(ctx, q.Agent)
		}
		return answer, err
	})
}

func pinsOf(q ListPaging, list []registry.Pin, err error) (*pinsAnswer, error) {
	if err != nil {
		return nil, err
	}
	page, next, err := pageOf(q, "pins", list, func(p registry.Pin) string { return p.Owner + " " + p.Reference })
	return &pinsAnswer{Body: PinList{page, next}}, err
}
