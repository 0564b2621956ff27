package oidc

import (
	"context"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Read verifies an access token of the provider and returns its contents. The token must be a signed JWT. Read does not
// check the audiences; the caller must check them. Errors: Unauthenticated; ProviderUnavailable.
func (s *Service) Read(ctx context.Context, token string) (registry.AccessToken, error) {
	verifier, err := s.verifier(oidc.ClientContext(ctx, s.http))
	if err != nil {
		return registry.AccessToken{}, err
	}
	proof, err := verifier.Verify(ctx, token)
	switch {
	case err != nil:
		return registry.AccessToken{}, s.unverified(ctx, err)
	case proof.Subject == "":
		return registry.AccessToken{}, unread("it does not identify a person")
	case slices.Contains(proof.Audience, s.Client):
		return registry.AccessToken{}, unread("it was issued for the Studio, not for this address")
	}
	said := claims{}
	if err := proof.Claims(&said); err != nil {
		return registry.AccessToken{}, unread("its claims are malformed")
	}
	_, grouped := said[s.GroupsClaim]
	return registry.AccessToken{
		Identity: said.identity(proof.Issuer, proof.Subject, s.GroupsClaim), Grouped: grouped, Audiences: proof.Audience, Issued: proof.IssuedAt, Expires: proof.Expiry,
	}, nil
}

// verifier returns the verifier of access tokens. The verifier caches the provider's keys.
func (s *Service) verifier(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	provider, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens = provider.VerifierContext(oidc.ClientContext(context.Background(), s.keys), &oidc.Config{SkipClientIDCheck: true, Now: s.Now}) //nolint:contextcheck // The verifier is used after the request has ended.
	}
	return s.tokens, nil
}

// unverified returns the error for a token that could not be verified, either because the token is wrong or because the
// keys could not be fetched. To tell these cases apart it compares error texts, because the library does not wrap the
// cause.
func (s *Service) unverified(ctx context.Context, err error) error {
	if text := err.Error(); strings.Contains(text, "fetching keys") && !strings.Contains(text, errEarly.Error()) {
		return s.unavailable(ctx, err)
	}
	return unread("it has expired, or the configured provider did not issue it")
}

func unread(why string) error {
	return fault.New(fault.Unauthenticated, "The access token is not valid here: %s. Sign in again.", why)
}
