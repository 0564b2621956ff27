package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/studio/specs"
)

// endpoint describes a route for the router and for the API description.
type endpoint struct {
	id, method, path string
	tag, summary     string
	about            string
	status           int          // status of a successful answer; 0 means 200
	refusals         []fault.Code // errors of this route, in addition to those of every route
	idempotent       bool         // whether the route accepts an Idempotency-Key
	bodyBytes        int64        // maximum size of the body in bytes; 0 means the server's setting
	modules          bool         // whether the body may contain a WebAssembly module and therefore be larger
	public           bool         // whether the route needs no caller
	cached           bool         // whether the answer is about {version} and may be cached
	hidden           bool
	answers          map[string]*huma.Response // responses that the output type does not describe

	// instead serves a request for a format other than JSON. If the request asks for JSON, it does nothing and returns
	// false.
	instead func(w http.ResponseWriter, r *http.Request) bool
}

// none is the input type of an endpoint without input, and the output type of one without output.
type none struct{}

// add registers an endpoint. The handler returns plain values and errors. add converts them to statuses and documents.
func add[I, O any](a *API, e endpoint, handler func(context.Context, *I) (*O, error)) {
	op := huma.Operation{
		OperationID: e.id, Method: e.method, Path: e.path, Tags: []string{e.tag}, Summary: e.summary, Description: e.about,
		DefaultStatus: e.status, Errors: refusals(e), Hidden: e.hidden, Responses: e.answers,
		BodyReadTimeout: -1, MaxBodyBytes: -1, SkipValidateBody: true, // The function enter reads and checks bodies.
		Middlewares: huma.Middlewares{a.enter(e)},
	}
	if e.idempotent {
		op.Parameters = []*huma.Param{keyParameter()}
	}
	op.Security = gate.Security(e.method, e.path)
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, a.Problems.Describe(ctx, err)
		}
		return out, nil
	})
}

// refusals returns the error statuses for the description of a route.
func refusals(e endpoint) []int {
	codes := e.refusals
	if !e.public {
		codes = append([]fault.Code{fault.Unauthenticated, fault.Forbidden}, codes...)
	}
	if e.method != http.MethodGet {
		codes = append(codes, fault.BadRequest, fault.BodyTooLarge, fault.UnsupportedMediaType)
	}
	seen, statuses := map[int]bool{}, []int{}
	for _, code := range codes {
		if status := problem.Status(code); !seen[status] {
			seen[status] = true
			statuses = append(statuses, status)
		}
	}
	return statuses
}

// moduleBodyBytes is the maximum size in bytes of a body that may contain a WebAssembly module. It is the size of the
// largest module in base64, plus space for the other fields.
const moduleBodyBytes = specs.MaxModuleBytes/3*4 + 2<<20

// enter returns middleware that reads and checks the body before the framework handles the request. If the request
// repeats an Idempotency-Key, the middleware sends the stored answer.
func (a *API) enter(e endpoint) func(huma.Context, func(huma.Context)) {
	most := e.bodyBytes
	if most == 0 {
		most = a.BodyBytes
	}
	if e.modules {
		most = max(most, moduleBodyBytes)
	}
	return func(c huma.Context, next func(huma.Context)) {
		r, w := humachi.Unwrap(c)
		if e.instead != nil && e.instead(w, r) {
			return
		}
		body, value, err := gate.Document(w, r, most)
		if err != nil {
			a.Problems.Write(w, r, err)
			return
		}
		if err := a.bodies.check(c.Operation(), body, value); err != nil {
			a.Problems.Write(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if e.cached {
			sendOnce(w, r, lifetime(chi.URLParam(r, "version")), func(w http.ResponseWriter) { next(humachi.NewContext(c.Operation(), r, w)) })
			return
		}
		key := r.Header.Get(keyHeader)
		if e.idempotent && key == "" && len(r.Header.Values(keyHeader)) > 0 {
			a.Problems.Write(w, r, fault.New(fault.BadRequest, "%s must not be empty.", keyHeader))
			return
		}
		if !e.idempotent || key == "" || lacksMatch(c.Operation(), r) {
			next(humachi.NewContext(c.Operation(), r, w))
			return
		}
		a.once(w, r, key, body, func(w http.ResponseWriter, r *http.Request) {
			next(humachi.NewContext(c.Operation(), r, w))
		})
	}
}

// lacksMatch reports whether a request lacks the If-Match that its operation requires. Such a request is refused even
// if its Idempotency-Key has a stored answer.
func lacksMatch(op *huma.Operation, r *http.Request) bool {
	return r.Header.Get("If-Match") == "" && slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "If-Match" && p.Required })
}

// actor returns the actor of a request. The gate ensures that a request for a guarded route has an actor.
func actor(ctx context.Context) registry.Actor { return caller(ctx).Actor }

// caller returns the caller of a request with the caller's permissions.
func caller(ctx context.Context) registry.Caller {
	c, _ := gate.CallerOf(ctx)
	return c.Caller
}
