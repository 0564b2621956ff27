package oidc

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Read verifies an access token of the provider and returns its content. The caller must check the audiences. Only a
// signed JWT can be read. Errors: Unauthenticated; ProviderUnavailable.
func (s *Service) Read(ctx context.Context, token string) (registry.AccessToken, error) {
	ctx = oidc.ClientContext(ctx, s.http)
	provider, err := s.reach(ctx)
	if err != nil {
		return registry.AccessToken{}, err
	}
	proof, err := provider.VerifierContext(ctx, &oidc.Config{SkipClientIDCheck: true, Now: s.Now}).Verify(ctx, token)
	var network *url.Error
	switch {
	case errors.As(err, &network):
		return registry.AccessToken{}, s.unavailable(ctx, err)
	case err != nil:
		return registry.AccessToken{}, unread("it has expired, or the configured provider did not issue it")
	case slices.Contains(proof.Audience, s.Client):
		return registry.AccessToken{}, unread("it is for the Studio and not for this address")
	}
	said := claims{}
	if err := proof.Claims(&said); err != nil {
		return registry.AccessToken{}, unread("its claims are malformed")
	}
	_, grouped := said[s.GroupsClaim]
	return registry.AccessToken{
		Identity: said.identity(proof.Issuer, proof.Subject, s.GroupsClaim), Grouped: grouped, Audiences: proof.Audience, Expires: proof.Expiry,
	}, nil
}

func unread(why string) error {
	return fault.New(fault.Unauthenticated, "The access token is not valid here: %s. Sign in again.", why)
}
