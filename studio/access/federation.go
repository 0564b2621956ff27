package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// federatedFor is the duration of a session that began with a sign-in at an identity provider. Changes of the groups or
// the account at the provider take effect at the next sign-in.
const federatedFor = 24 * time.Hour

// Everybody is the group of every person with an account at the provider.
const Everybody = "*"

// GroupRole assigns a role in a workspace to a group of the provider.
type GroupRole struct {
	Group     string
	Workspace string // name or ID of the workspace
	Role      registry.Role
}

// Identities stores which user belongs to an identity of the provider.
type Identities interface {
	Federate(ctx context.Context, who registry.Identity, newcomer registry.User, grants []registry.Grant) (user string, err error)
}

// Federate signs a browser in as a user of an identity provider and returns the session cookie with its expiry. In each
// workspace that the configuration names, the user gets the role that the user's groups give, and loses any other role.
func (s *Service) Federate(ctx context.Context, who registry.Identity, from registry.Device) (string, time.Time, error) {
	s.delegations.newer(who, s.now().Truncate(time.Second)) // The time is truncated to seconds, as in tokens. Tokens issued earlier no longer set the roles.
	user, err := s.federate(ctx, who, true)
	if err != nil {
		return "", time.Time{}, err
	}
	places, err := s.person(ctx, user)
	if err != nil {
		return "", time.Time{}, err
	}
	if len(places) == 0 {
		return "", time.Time{}, fault.New(fault.Forbidden, "You signed in, but none of your groups has a role on this server. Ask an administrator for a role.")
	}
	latest := s.now().Add(federatedFor)
	return s.open(ctx, places[0].Actor, from, &latest)
}

// federate returns the user of an identity, and creates the user if the identity is new. If grouped is true, the
// identity's groups set the user's roles.
func (s *Service) federate(ctx context.Context, who registry.Identity, grouped bool) (string, error) {
	var grants []registry.Grant
	if grouped {
		var err error
		if grants, err = s.grants(ctx, who.Groups); err != nil {
			return "", err
		}
	}
	who.Names = append(slices.DeleteFunc(slices.Clone(who.Names), func(name string) bool { return registry.CheckUserName(name) != nil }), nameOf(who))
	newcomer := registry.User{ID: s.newID(), Title: cmp.Or(who.Title, who.Names[0]), CreatedAt: s.now()}
	if registry.CheckTitle(newcomer.Title) != nil {
		newcomer.Title = who.Names[0]
	}
	user, err := s.identities.Federate(ctx, who, newcomer, grants)
	s.callers.forget()
	return user, err
}

// grants returns the user's role in every workspace that the configuration names, by workspace ID. The role is the
// highest one that a group of the user gives, or "" for none.
func (s *Service) grants(ctx context.Context, groups []string) ([]registry.Grant, error) {
	roles := map[string]registry.Role{}
	for _, g := range s.groups {
		w, err := s.workspaces.Workspace(ctx, g.Workspace)
		if fault.Is(err, fault.NoWorkspace) {
			continue // the workspace does not exist yet, or was closed
		}
		if err != nil {
			return nil, err
		}
		role := roles[w.ID]
		if (g.Group == Everybody || slices.Contains(groups, g.Group)) && g.Role.Covers(role) {
			role = g.Role
		}
		roles[w.ID] = role
	}
	grants := make([]registry.Grant, 0, len(roles))
	for workspace, role := range roles {
		grants = append(grants, registry.Grant{Workspace: workspace, Role: role})
	}
	// Sorting makes concurrent sign-ins write the workspaces in the same order, which prevents a deadlock.
	slices.SortFunc(grants, func(a, b registry.Grant) int { return strings.Compare(a.Workspace, b.Workspace) })
	return grants, nil
}

// nameOf returns a sign-in name that is derived from the identity, so that no two identities get the same name.
func nameOf(who registry.Identity) string {
	sum := sha256.Sum256([]byte(who.Issuer + "\x00" + who.Subject))
	return "oidc-" + hex.EncodeToString(sum[:12])
}
