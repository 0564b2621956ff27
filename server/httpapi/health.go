package httpapi

import (
	"context"
	"net/http"
)

// Health is how the server is doing, for monitors and existing clients.
type Health struct {
	Status         string       `json:"status" enum:"healthy,degraded" doc:"In the words of existing skill executors."`
	Version        string       `json:"version"`
	RegistryLoaded bool         `json:"registry_loaded"`
	ExecutorReady  bool         `json:"executor_ready"`
	SkillsCount    int          `json:"skills_count"`
	Sandbox        SandboxState `json:"sandbox"`
}

func (a *API) getHealth() {
	type out struct{ Body Health }
	add(a, endpoint{
		id: "getHealth", method: http.MethodGet, path: "/health", tag: "server", summary: "How the server is doing", public: true,
		about: "Always 200 while the server answers; GET /ready says whether it can be used.",
	}, func(ctx context.Context, _ *none) (*out, error) {
		return &out{Body: a.House.Health(ctx)}, nil
	})
}
