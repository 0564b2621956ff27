package gate

import (
	"context"

	"github.com/go-chi/chi/v5"
)

// withRoutes makes the router fill in our route context, so that the pattern can be read after the request.
func withRoutes(ctx context.Context, routes *chi.Context) context.Context {
	return context.WithValue(ctx, chi.RouteCtxKey, routes)
}
