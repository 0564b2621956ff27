package gate

import (
	"context"

	"github.com/go-chi/chi/v5"
)

// withRoutes makes the router use the given route context. The gate can then read the route's pattern after the
// request.
func withRoutes(ctx context.Context, routes *chi.Context) context.Context {
	return context.WithValue(ctx, chi.RouteCtxKey, routes)
}
