package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/secrets"
)

// Secret describes a secret without its value.
type Secret struct {
	Name     string                       `json:"name"`
	AgentID  string                       `json:"agentId,omitempty" doc:"Agent whose runs receive the secret. Absent for a secret of the workspace."`
	Agent    string                       `json:"agent,omitempty"`
	Bind     *registry.Binding            `json:"bind,omitempty" doc:"Host that the secret is sent to. Programs cannot read a bound secret."`
	SetAt    time.Time                    `json:"setAt"`
	SetBy    string                       `json:"setBy"`
	LastUsed *time.Time                   `json:"lastUsedAt,omitempty"`
	UsedBy   []registry.SecretDeclaration `json:"usedBy" doc:"Versions and drafts whose runs receive the secret. Only in lists."`
}

// SecretList lists the secrets of the workspace without their values.
type SecretList struct {
	Items      []Secret `json:"items"`
	NextCursor string   `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// SecretBody sets a secret.
type SecretBody struct {
	Value string            `json:"value" doc:"Value, 8 bytes to 16 KiB. Shorter values cannot be redacted. No endpoint returns the value."`
	Bind  *registry.Binding `json:"bind,omitempty" doc:"Binds the secret to a host. ctx.fetch and the proxy for plain HTTP send it as a header to that host only, and programs cannot read it. If absent, programs receive the value."`
}

// SecretRef contains the parameters that name a secret.
type SecretRef struct {
	Name  string `path:"name" maxLength:"64" doc:"Name of the secret, as versions declare it."`
	Agent string `query:"agent" maxLength:"100" doc:"Name or ID of the agent that owns the secret (default: the workspace)."`
}

func secretOf(s registry.Secret, usedBy []registry.SecretDeclaration) Secret {
	return Secret{
		Name: s.Name, AgentID: s.AgentID, Agent: s.Agent, Bind: s.Binding, SetAt: s.SetAt, SetBy: s.SetBy.Name, LastUsed: s.LastUsed, UsedBy: orEmpty(usedBy),
	}
}

func (a *API) secretRoutes() {
	a.listSecrets()
	a.setSecret()
	a.removeSecret()
	a.listSecretUses()
}

func (a *API) listSecrets() {
	type out struct{ Body SecretList }
	add(a, endpoint{
		id: "listSecrets", method: http.MethodGet, path: Base + "/secrets", tag: "secrets", summary: "List secrets, without values",
		about: "Lists names and owners of secrets, and the versions and drafts that use them. No endpoint returns a value.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		all, err := a.Secrets.List(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		page, next, err := pageOf(*q, "secrets", all, func(s secrets.Listed) string { return s.AgentID + " " + s.Name })
		if err != nil {
			return nil, err
		}
		list := SecretList{Items: []Secret{}, NextCursor: next}
		for _, one := range page {
			list.Items = append(list.Items, secretOf(one.Secret, one.UsedBy))
		}
		return &out{Body: list}, nil
	})
}

func (a *API) setSecret() {
	type in struct {
		SecretRef
		Body SecretBody
	}
	type out struct{ Body Secret }
	add(a, endpoint{
		id: "setSecret", method: http.MethodPut, path: Base + "/secrets/{name}", tag: "secrets", summary: "Set or replace a secret",
		about:    "Runs of versions that declare the name receive the value as an environment variable and in ctx.env. A secret of the agent overrides one of the workspace. The value cannot be read again.",
		refusals: []fault.Code{fault.NotFound, fault.InvalidInput, fault.Conflict},
	}, func(ctx context.Context, q *in) (*out, error) {
		made, err := a.Secrets.Set(ctx, actor(ctx), secrets.Request{Name: q.Name, Agent: q.Agent, Value: q.Body.Value, Binding: q.Body.Bind})
		if err != nil {
			return nil, err
		}
		return &out{Body: secretOf(made, nil)}, nil
	})
}

func (a *API) removeSecret() {
	add(a, endpoint{
		id: "removeSecret", method: http.MethodDelete, path: Base + "/secrets/{name}", tag: "secrets", summary: "Remove a secret",
		about: "Later runs that declare the secret are refused.", status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *SecretRef) (*none, error) {
		return &none{}, a.Secrets.Remove(ctx, actor(ctx), q.Name, q.Agent)
	})
}

func (a *API) listSecretUses() {
	type in struct {
		SecretRef
		Paging
	}
	type out struct{ Body registry.SecretUses }
	add(a, endpoint{
		id: "listSecretUses", method: http.MethodGet, path: Base + "/secrets/{name}/uses", tag: "secrets", summary: "List the runs that received a secret, newest first",
		about:    "One entry for each run that received the value.",
		refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		page, err := a.Secrets.UsesOf(ctx, actor(ctx), q.Name, q.Agent, q.Cursor, q.Limit)
		if err != nil {
			return nil, err
		}
		return &out{Body: page}, nil
	})
}
