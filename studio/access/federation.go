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

// federatedFor is how long a login by a provider lasts: what changes there, groups or the account itself, counts here with
// the next login.
const federatedFor = 24 * time.Hour

// Everybody is the group of all who have an account at the provider.
const Everybody = "*"

// GroupRole is the role that a group of the provider's has in a workspace.
type GroupRole struct {
	Group     string
	Workspace string // name or ID
	Role      registry.Role
}

// Identities keeps who people are at a provider of logins.
type Identities interface {
	Federate(ctx context.Context, who registry.Identity, newcomer registry.User, grants []registry.Grant) (user string, err error)
}

// Federate logs a browser in as somebody whom a provider knows. In every workspace that the configured roles of groups
// name, they have what their groups have, and nothing where none of theirs is named.
func (s *Service) Federate(ctx context.Context, who registry.Identity, from registry.Device) (string, time.Time, error) {
	grants, err := s.grants(ctx, who.Groups)
	if err != nil {
		return "", time.Time{}, err
	}
	who.Names = append(slices.DeleteFunc(slices.Clone(who.Names), func(name string) bool { return registry.CheckUserName(name) != nil }), nameOf(who))
	now := s.now()
	newcomer := registry.User{ID: s.newID(), Title: cmp.Or(who.Title, who.Names[0]), CreatedAt: now}
	if registry.CheckTitle(newcomer.Title) != nil {
		newcomer.Title = who.Names[0]
	}
	user, err := s.identities.Federate(ctx, who, newcomer, grants)
	s.callers.forget()
	if err != nil {
		return "", time.Time{}, err
	}
	places, err := s.person(ctx, user)
	if err != nil {
		return "", time.Time{}, err
	}
	if len(places) == 0 {
		return "", time.Time{}, fault.New(fault.Forbidden, "You signed in, but none of your groups has a role here. Ask an administrator for a role.")
	}
	latest := now.Add(federatedFor)
	return s.open(ctx, places[0].Actor, from, &latest)
}

// grants are the roles of groups in every workspace that the configuration names, by the workspace's ID: the highest of
// each, "" for none.
func (s *Service) grants(ctx context.Context, groups []string) ([]registry.Grant, error) {
	roles := map[string]registry.Role{}
	for _, g := range s.groups {
		w, err := s.workspaces.Workspace(ctx, g.Workspace)
		if fault.Is(err, fault.NoWorkspace) {
			continue // it is not there yet, or closed
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
	// In one order, so that two logins at once do not wait for each other.
	slices.SortFunc(grants, func(a, b registry.Grant) int { return strings.Compare(a.Workspace, b.Workspace) })
	return grants, nil
}

// nameOf is a name that nobody else has.
func nameOf(who registry.Identity) string {
	sum := sha256.Sum256([]byte(who.Issuer + "\x00" + who.Subject))
	return "oidc-" + hex.EncodeToString(sum[:12])
}
