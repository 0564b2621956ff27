package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// Ready reports that the server can be used.
type Ready struct {
	Ready      bool             `json:"ready"`
	Components []ComponentState `json:"components" doc:"Other components that this server uses. If one of them is down, the server is still ready, because its other APIs work."`
}

// ComponentState is the state of a component that the server uses, such as the database.
type ComponentState struct {
	Component string `json:"component" enum:"database,sandbox,servers,kafka,bucket"`
	State     string `json:"state" enum:"up,down"`
	Reason    string `json:"reason,omitempty" doc:"Reason why the component is down."`
}

// component returns the state of a component. The reason is used only if the component is down.
func component(name string, up bool, reason string) ComponentState {
	if up {
		return ComponentState{Component: name, State: "up"}
	}
	return ComponentState{Component: name, State: "down", Reason: reason}
}

// components returns the components of a server that is ready. In this state the database and the sandbox are up.
func (h Health) components() []ComponentState {
	all := []ComponentState{component("database", true, ""), component("sandbox", true, "")}
	if h.Servers != nil {
		all = append(all, component("servers", h.Servers.Listening, "The messages of the other servers do not arrive. Their changes count a second later."))
	}
	if h.Kafka != nil {
		all = append(all, component("kafka", h.Kafka.Connected, h.Kafka.Reason))
	}
	if h.Bucket != nil {
		all = append(all, component("bucket", h.Bucket.Available, h.Bucket.Reason))
	}
	return all
}

// unready adds the component to an error that is the reason why the server is not ready.
func unready(component string, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	named := *f
	named.Extra = map[string]any{"component": component}
	return &named
}

func (a *API) getReady() {
	type out struct{ Body Ready }
	add(a, endpoint{
		id: "getReady", method: http.MethodGet, path: "/ready", tag: "server", summary: "Check whether the server can be used",
		about: "Returns 200 if the server can run programs and record them, otherwise 503 with the reason. The field `component` names the database or the sandbox if one of them is down. Kafka, the bucket and the connection to other servers are listed with their state, but do not change the status. A server that stops first returns 503 with the code shutting_down, and closes its listeners after --drain-delay.", public: true,
		refusals: []fault.Code{fault.RuntimeUnavailable, fault.StorageUnavailable, fault.ShuttingDown},
	}, func(ctx context.Context, _ *none) (*out, error) {
		err := a.StatusProvider.Serving()
		if fault.Is(err, fault.StorageUnavailable) {
			return nil, unready("database", err)
		}
		if err != nil {
			return nil, err
		}
		health := a.StatusProvider.Health(ctx)
		switch {
		case !health.RegistryLoaded:
			return nil, unready("database", fault.New(fault.StorageUnavailable, "The database does not answer."))
		case !health.ExecutorReady:
			return nil, unready("sandbox", fault.New(fault.SandboxUnavailable, "No program can run. GET /health lists the missing mechanisms."))
		}
		return &out{Body: Ready{Ready: true, Components: health.components()}}, nil
	})
}
