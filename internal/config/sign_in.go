package config

import (
	"fmt"
	"net/url"
	"strings"
)

// OIDC configures an OpenID provider. Issuer is "" if there is no provider.
type OIDC struct {
	Issuer      string
	Client      string
	Secret      string
	Name        string
	Scopes      []string
	GroupsClaim string
	Roles       []GroupRole
	Audiences   []string
}

// GroupRole is the role that members of a provider's group get in a workspace. The group * contains all users.
type GroupRole struct {
	Group     string
	Workspace string
	Role      string
}

func signInSettings() []Setting {
	return []Setting{
		{Name: "oidc-issuer", Env: "ATELIER_OIDC_ISSUER", Form: "URL", Group: "Sign-in",
			Help: "Issuer URL of an OpenID provider for sign-in. Register the redirect URL <public URL>/login/oidc/callback there.",
			set:  func(c *Config, v string) (err error) { c.OIDC.Issuer, err = issuer(v); return err }},
		{Name: "oidc-client", Env: "ATELIER_OIDC_CLIENT_ID", Form: "ID", Group: "Sign-in",
			Help: "Client ID of this server at the provider.",
			set:  func(c *Config, v string) error { c.OIDC.Client = v; return nil }},
		{Name: "oidc-client-secret", Env: "ATELIER_OIDC_CLIENT_SECRET", Form: "SECRET", Group: "Sign-in", Secret: true,
			Help: "Client secret at the provider. Without a secret, the server is a public client that uses PKCE.",
			set:  func(c *Config, v string) error { c.OIDC.Secret = v; return nil }},
		{Name: "oidc-name", Env: "ATELIER_OIDC_NAME", Default: "single sign-on", Form: "TEXT", Group: "Sign-in",
			Help: "Name of the provider on the sign-in button.",
			set:  func(c *Config, v string) error { c.OIDC.Name = v; return notEmpty(v) }},
		{Name: "oidc-scopes", Env: "ATELIER_OIDC_SCOPES", Default: "profile,email", Form: "SCOPE,…", Group: "Sign-in",
			Help: "Scopes to request in addition to openid. Many providers send groups only if the scope groups is requested.",
			set:  func(c *Config, v string) error { c.OIDC.Scopes = list(v); return nil }},
		{Name: "oidc-groups-claim", Env: "ATELIER_OIDC_GROUPS_CLAIM", Default: "groups", Form: "NAME", Group: "Sign-in",
			Help: "Name of the claim that lists a person's groups.",
			set:  func(c *Config, v string) error { c.OIDC.GroupsClaim = v; return notEmpty(v) }},
		{Name: "oidc-audience", Env: "ATELIER_OIDC_AUDIENCE", Form: "AUDIENCE,…", Group: "Sign-in",
			Help: "Audiences of access tokens that MCP addresses accept (default: the address of the request). Set them if the provider cannot issue tokens for an MCP address.",
			set:  func(c *Config, v string) error { c.OIDC.Audiences = list(v); return nil }},
		{Name: "oidc-roles", Env: "ATELIER_OIDC_ROLES", Form: "GROUP=[WORKSPACE:]ROLE,…", Group: "Sign-in",
			Help: "Roles for groups of the provider: viewer, developer, approver or administrator. The group * means every person with an account. Each sign-in updates the roles in the named workspaces.",
			set:  func(c *Config, v string) (err error) { c.OIDC.Roles, err = groupRoles(v); return err }},
	}
}

// issuer parses the URL of the OpenID provider. It rejects unencrypted connections to other machines, because the
// transferred data proves a person's identity.
func issuer(v string) (string, error) {
	if v == "" {
		return "", nil
	}
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(hostPort(u)):
		return v, nil // returned unchanged, because an issuer with a trailing slash is a different issuer
	}
	return "", fmt.Errorf("must be the URL of a provider, for example https://login.example.com; http is allowed only for this machine")
}

func hostPort(u *url.URL) string {
	if u.Port() == "" {
		return u.Host + ":80"
	}
	return u.Host
}

func groupRoles(v string) ([]GroupRole, error) {
	var all []GroupRole
	for _, entry := range list(v) {
		cut := strings.LastIndex(entry, "=") // cuts at the last "=", because the name of a group may contain "="
		if cut < 1 {
			return nil, fmt.Errorf("has %q, which must be GROUP=ROLE or GROUP=WORKSPACE:ROLE", entry)
		}
		workspace, role, named := strings.Cut(entry[cut+1:], ":")
		if !named {
			workspace, role = "default", entry[cut+1:]
		}
		role, err := oneOf(role, "viewer", "developer", "approver", "administrator")
		if err != nil || workspace == "" {
			return nil, fmt.Errorf("has %q with an unknown role; use viewer, developer, approver or administrator", entry)
		}
		all = append(all, GroupRole{Group: entry[:cut], Workspace: workspace, Role: role})
	}
	return all, nil
}
