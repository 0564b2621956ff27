package gate

import (
	"net/http"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/registry"
)

// reserve opens the memory reservation of a request and releases it after the answer. Reading a body and sending a
// large answer add to the reservation. If a run continues after the answer, its part stays reserved until the run ends.
func (g *Gate) reserve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.Budget == nil {
			next.ServeHTTP(w, r)
			return
		}
		reservation := g.Budget.Open(payer(r))
		defer reservation.Release()
		next.ServeHTTP(w, r.WithContext(budget.With(r.Context(), reservation)))
	})
}

// payer returns the name under which the memory of a request is counted. This is the caller's workspace, or the
// client's network if the request has no caller with a credential.
func payer(r *http.Request) string {
	caller, ok := CallerOf(r.Context())
	if !ok || caller.Actor.Type == registry.AnonymousActor {
		return "address " + source(r).String()
	}
	return "workspace " + caller.Actor.Workspace
}
