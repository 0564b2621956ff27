package access

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Provider verifies access tokens that an identity provider issued.
type Provider interface {
	Read(ctx context.Context, token string) (registry.AccessToken, error)
}

const (
	delegatedFor  = 5 * time.Minute // After this time a token is verified again, and its groups set the person's roles again.
	mostDelegated = 10_000
)

// delegated is the result of verifying a person's access token. It does not contain the token itself.
type delegated struct {
	user      string
	audiences []string
	expires   time.Time
	until     time.Time // time at which the token must be verified again
}

// delegations caches verified tokens by their hash. Changes of rights do not clear this cache, because it contains no
// rights.
type delegations struct {
	mu     sync.Mutex
	known  map[string]delegated
	newest map[string]time.Time // issue time of the newest token or sign-in that named the person's groups, by issuer and subject
}

// newer reports whether a token or sign-in is at least as new as all earlier ones of the same identity. If so, newer
// records its issue time.
func (d *delegations) newer(who registry.Identity, issued time.Time) bool {
	key := who.Issuer + "\x00" + who.Subject
	d.mu.Lock()
	defer d.mu.Unlock()
	if issued.Before(d.newest[key]) {
		return false
	}
	if len(d.newest) >= mostDelegated {
		clear(d.newest)
	}
	d.newest[key] = issued
	return true
}

// Delegated returns the caller in a workspace for an access token of an identity provider. If workspace is "", it uses
// the person's first workspace. The token's audience must be the resource, an address above it, or a configured
// audience. The caller gets at most the scopes read and run. Errors: Unauthenticated, Forbidden, ProviderUnavailable.
func (s *Service) Delegated(ctx context.Context, token, resource, workspace string) (registry.Caller, error) {
	h := hash(token)
	found, err := s.delegate(ctx, h, token)
	if err != nil {
		return registry.Caller{}, err
	}
	if !s.covers(found.audiences, resource) {
		return registry.Caller{}, fault.New(fault.Unauthenticated, "The access token was issued for another address. Request one for the resource %s.", resource)
	}
	person, err := s.remember("delegated "+h, func() (remembered, error) {
		places, err := s.person(ctx, found.user)
		if err == nil && len(places) == 0 {
			err = fault.New(fault.Forbidden, "You have no role on this server. Sign in to the Studio once, or ask an administrator for a role.")
		}
		for i := range places {
			places[i].Scopes = registry.Common(places[i].Scopes, []registry.Scope{registry.ReadScope, registry.RunScope})
		}
		return remembered{places: places, expires: &found.expires}, err
	})
	if err != nil {
		return registry.Caller{}, err
	}
	return person.in(workspace)
}

// delegate returns the person to whom a token belongs. If the token names groups, they set the person's roles, as in a
// sign-in. If the token is older than the last sign-in or another token, the roles stay unchanged, because old groups
// could restore roles that the person no longer has.
func (s *Service) delegate(ctx context.Context, h, token string) (delegated, error) {
	now := s.now()
	s.delegations.mu.Lock()
	found, ok := s.delegations.known[h]
	s.delegations.mu.Unlock()
	if ok && now.Before(found.until) {
		return found, nil
	}
	read, err := s.provider.Read(ctx, token)
	if err != nil {
		return delegated{}, err
	}
	user, err := s.federate(ctx, read.Identity, read.Grouped && s.delegations.newer(read.Identity, read.Issued))
	if err != nil {
		return delegated{}, err
	}
	found = delegated{user: user, audiences: read.Audiences, expires: read.Expires, until: now.Add(delegatedFor)}
	s.delegations.mu.Lock()
	defer s.delegations.mu.Unlock()
	if len(s.delegations.known) >= mostDelegated {
		clear(s.delegations.known)
	}
	s.delegations.known[h] = found
	return found, nil
}

// covers reports whether one of the token's audiences is the resource, an address above it, or a configured audience.
func (s *Service) covers(audiences []string, resource string) bool {
	return slices.ContainsFunc(audiences, func(audience string) bool {
		above := strings.TrimRight(audience, "/") + "/"
		if slices.Contains(s.audiences, audience) || audience == resource {
			return true
		}
		at, err := url.Parse(audience)
		return err == nil && at.Host != "" && strings.HasPrefix(resource, above) // An audience without a host, such as "https:", would otherwise count as above every address.
	})
}
