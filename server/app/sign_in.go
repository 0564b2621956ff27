package app

import (
	"slices"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/oidc"
)

// signInProvider returns the OpenID provider, or nil if none is configured.
func (a *App) signInProvider() *oidc.Service {
	c := a.Config.OIDC
	if c.Issuer == "" || a.provider != nil {
		return a.provider
	}
	a.provider = oidc.New(oidc.Options{
		Issuer: c.Issuer, Client: c.Client, Secret: c.Secret, Scopes: c.Scopes, GroupsClaim: c.GroupsClaim, Log: a.Log, Now: a.Now,
	})
	a.closers.add("OpenID provider", func() error { a.provider.Close(); return nil })
	return a.provider
}

// delegates reports whether MCP addresses accept access tokens of the OpenID provider. This requires a configured
// public URL, because a token contains the address for which it was issued, and the server must compare this address.
func (a *App) delegates() bool { return a.Config.OIDC.Issuer != "" && a.Config.PublicURL != "" }

// tokenProvider returns the provider that verifies access tokens, or nil if access tokens are refused.
func (a *App) tokenProvider() access.Provider {
	if !a.delegates() {
		return nil
	}
	return a.signInProvider()
}

// delegations returns the service that finds the person to whom an access token belongs, or nil if access tokens are
// refused.
func (a *App) delegations() gate.Delegations {
	if !a.delegates() {
		return nil
	}
	return a.access
}

// mcpIssuer returns the URL of the OpenID provider at which MCP clients sign in, and the scopes that the clients
// request. If access tokens are refused, the URL is "".
func (a *App) mcpIssuer() (issuer string, scopes []string) {
	if !a.delegates() {
		return "", nil
	}
	return a.Config.OIDC.Issuer, slices.Compact(append([]string{"openid"}, a.Config.OIDC.Scopes...))
}

func (a *App) groupRoles() []access.GroupRole {
	var roles []access.GroupRole
	for _, g := range a.Config.OIDC.Roles {
		roles = append(roles, access.GroupRole{Group: g.Group, Workspace: g.Workspace, Role: registry.Role(g.Role)})
	}
	return roles
}
