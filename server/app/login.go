package app

import (
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/oidc"
)

// loginProvider returns the login provider, or nil if there is none.
func (a *App) loginProvider() *oidc.Service {
	c := a.Config.OIDC
	if c.Issuer == "" {
		return nil
	}
	provider := oidc.New(oidc.Options{
		Issuer: c.Issuer, Client: c.Client, Secret: c.Secret, Scopes: c.Scopes, GroupsClaim: c.GroupsClaim, Log: a.Log, Now: a.Now,
	})
	a.closers.add("OpenID provider", func() error { provider.Close(); return nil })
	return provider
}

func (a *App) groupRoles() []access.GroupRole {
	var roles []access.GroupRole
	for _, g := range a.Config.OIDC.Roles {
		roles = append(roles, access.GroupRole{Group: g.Group, Workspace: g.Workspace, Role: registry.Role(g.Role)})
	}
	return roles
}
