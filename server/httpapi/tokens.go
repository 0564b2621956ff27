package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/access"
)

// TokenBody requests a bearer token.
type TokenBody struct {
	Name      string           `json:"name" minLength:"1" maxLength:"100" doc:"Label of the token, for example the program that uses it."`
	Scopes    []registry.Scope `json:"scopes,omitempty" doc:"Scopes (default: all except admin). admin includes all others."`
	Agents    []string         `json:"agents,omitempty" maxItems:"200" doc:"Names or IDs of agents that the token is restricted to (default: all agents). A restricted token cannot call endpoints that concern several agents."`
	ExpiresAt *time.Time       `json:"expiresAt,omitempty"`
}

// NewToken is a token with its secret, which is shown only once.
type NewToken struct {
	registry.Token
	Secret string `json:"secret"`
}

// TokenList lists the tokens of the workspace without secrets.
type TokenList struct {
	Items      []registry.Token `json:"items"`
	NextCursor string           `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

func (a *API) createToken() {
	type in struct{ Body TokenBody }
	type out struct{ Body NewToken }
	add(a, endpoint{
		id: "createToken", method: http.MethodPost, path: Base + "/tokens", tag: "session", summary: "Create a bearer token",
		about: "The secret is shown once. Only its hash is stored.", status: http.StatusCreated,
	}, func(ctx context.Context, q *in) (*out, error) {
		secret, token, err := a.Access.CreateToken(ctx, caller(ctx), access.TokenRequest{
			Name: q.Body.Name, Scopes: q.Body.Scopes, Agents: q.Body.Agents, ExpiresAt: q.Body.ExpiresAt,
		})
		if err != nil {
			return nil, err
		}
		return &out{Body: NewToken{Token: token, Secret: secret}}, nil
	})
}

func (a *API) listTokens() {
	type out struct{ Body TokenList }
	add(a, endpoint{
		id: "listTokens", method: http.MethodGet, path: Base + "/tokens", tag: "session", summary: "List tokens",
		about: "Tokens of the workspace without their secrets.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		tokens, err := a.Access.ListTokens(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		page, next, err := pageOf(*q, "tokens", tokens, func(t registry.Token) string { return t.ID })
		return &out{Body: TokenList{page, next}}, err
	})
}

func (a *API) revokeToken() {
	type in struct {
		Token string `path:"token" maxLength:"100" doc:"ID of the token."`
	}
	add(a, endpoint{
		id: "revokeToken", method: http.MethodDelete, path: Base + "/tokens/{token}", tag: "session", summary: "Revoke a token",
		about:  "Requests with the token are refused at once; its open streams end.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Access.RevokeToken(ctx, actor(ctx), q.Token)
	})
}
