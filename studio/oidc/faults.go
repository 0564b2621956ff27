package oidc

import (
	"context"
	"errors"
	"log/slog"

	"golang.org/x/oauth2"

	"github.com/atelier-run/atelier/internal/fault"
)

func refused(why string) error {
	return fault.New(fault.Unauthenticated, "Sign-in failed. %s", why)
}

// exchangeFailed returns the error for a failed code exchange. Either the provider rejected the code, or the provider
// does not work.
func (s *Service) exchangeFailed(ctx context.Context, err error) error {
	var answer *oauth2.RetrieveError
	switch {
	case !errors.As(err, &answer):
		return s.unavailable(ctx, err)
	case answer.ErrorCode == "invalid_client", answer.ErrorCode == "unauthorized_client":
		return s.unavailable(ctx, errors.New(answer.ErrorCode+": check oidc-client and oidc-client-secret"))
	case answer.ErrorCode == "invalid_grant":
		return refused("The provider rejected the sign-in code. Sign in again.")
	}
	return s.unavailable(ctx, errors.New(answer.Response.Status)) // Do not use err itself, because it contains the whole body of the response.
}

// mostSaid is the maximum length of an error in the log. An error may contain the provider's whole response, including
// personal data.
const mostSaid = 300

func (s *Service) unavailable(ctx context.Context, err error) error {
	s.Log.LogAttrs(ctx, slog.LevelWarn, "the OpenID provider does not answer correctly", slog.String("issuer", s.Issuer), slog.String("error", fault.Shown(err.Error(), mostSaid)))
	return fault.New(fault.ProviderUnavailable, "The OpenID provider is unreachable or does not answer correctly. Sign in another way, or try again later.")
}
