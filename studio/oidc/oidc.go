// Package oidc authenticates people with an OpenID provider, using the authorization code flow with PKCE. It implements
// only the protocol. Package studio/access manages rights.
package oidc

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Options configures a Service. Secret is "" if the client has no secret.
type Options struct {
	Issuer      string
	Client      string
	Secret      string
	Scopes      []string // scopes to request in addition to openid
	GroupsClaim string
	Log         *slog.Logger // log for the reasons why the provider cannot be reached
	Now         func() time.Time
}

// Service authenticates people at a provider. It is safe for concurrent use.
type Service struct {
	Options
	http *http.Client
	keys *http.Client // HTTP client that fetches the keys with which access tokens are verified

	mu       sync.Mutex
	provider *oidc.Provider        // provider's metadata; nil until the provider was reached
	tokens   *oidc.IDTokenVerifier // verifier of access tokens; nil until the first token arrives
}

// New returns the service. It contacts the provider only at the first sign-in, so that the server starts even if the
// provider is down.
func New(o Options) *Service {
	transport := bounded{&http.Transport{Proxy: http.ProxyFromEnvironment}}
	return &Service{
		Options: o, http: &http.Client{Timeout: responseTimeout, Transport: transport},
		keys: &http.Client{Timeout: responseTimeout, Transport: &spaced{next: transport, now: o.Now}},
	}
}

// Close closes the connections to the provider.
func (s *Service) Close() { s.http.CloseIdleConnections() }

// Attempt is stored in the browser while the user signs in at the provider. It proves that the provider's response
// belongs to a request of this browser.
type Attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Begin starts an attempt and returns the URL at the provider to which the browser must go. Afterwards the provider
// redirects the browser to callback. Error: ProviderUnavailable.
func (s *Service) Begin(ctx context.Context, callback string) (Attempt, string, error) {
	ctx = oidc.ClientContext(ctx, s.http)
	config, _, err := s.config(ctx, callback)
	if err != nil {
		return Attempt{}, "", err
	}
	a := Attempt{State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier()}
	return a, config.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Finish converts the provider's response to the identity of the user. Errors: BadRequest if the response belongs to
// another request; Unauthenticated if the provider rejected the user or its claims are invalid; ProviderUnavailable.
func (s *Service) Finish(ctx context.Context, callback string, a Attempt, answer url.Values) (registry.Identity, error) {
	ctx = oidc.ClientContext(ctx, s.http)
	if a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(answer.Get("state"))) != 1 {
		return registry.Identity{}, fault.New(fault.BadRequest, "This sign-in was not started in this browser, or it took longer than ten minutes. Sign in again.")
	}
	if iss := answer.Get("iss"); iss != "" && iss != s.Issuer {
		return registry.Identity{}, refused("The answer came from a different provider. Sign in again.")
	}
	if answer.Get("error") != "" || answer.Get("code") == "" {
		return registry.Identity{}, refused("The provider refused access. Ask the administrator of the provider for access.")
	}
	config, provider, err := s.config(ctx, callback)
	if err != nil {
		return registry.Identity{}, err
	}
	token, err := config.Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return registry.Identity{}, s.exchangeFailed(ctx, err)
	}
	raw, _ := token.Extra("id_token").(string)
	proof, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: s.Client, Now: s.Now}).Verify(ctx, raw)
	if err != nil || subtle.ConstantTimeCompare([]byte(proof.Nonce), []byte(a.Nonce)) != 1 {
		return registry.Identity{}, refused("The ID token of the provider could not be verified. Sign in again.")
	}
	said := claims{}
	if err := proof.Claims(&said); err != nil {
		return registry.Identity{}, refused("The ID token of the provider is malformed. Ask the operator of the server to check the provider.")
	}
	if err := s.complete(ctx, provider, token, proof.Subject, said); err != nil {
		return registry.Identity{}, err
	}
	return said.identity(proof.Issuer, proof.Subject, s.GroupsClaim), nil
}

// complete adds the claims that the provider returns only in a separate request. Claims in the signed token take
// precedence.
func (s *Service) complete(ctx context.Context, provider *oidc.Provider, token *oauth2.Token, subject string, said claims) error {
	if provider.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return s.unavailable(ctx, err)
	}
	if info.Subject != subject {
		return refused("The ID token of the provider could not be verified. Sign in again.")
	}
	further := claims{}
	if err := info.Claims(&further); err != nil {
		return refused("The ID token of the provider is malformed. Ask the operator of the server to check the provider.")
	}
	for name, value := range further {
		if _, ok := said[name]; !ok {
			said[name] = value
		}
	}
	return nil
}

func (s *Service) config(ctx context.Context, callback string) (*oauth2.Config, *oidc.Provider, error) {
	provider, err := s.reach(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &oauth2.Config{
		ClientID: s.Client, ClientSecret: s.Secret, Endpoint: provider.Endpoint(), RedirectURL: callback,
		Scopes: append([]string{oidc.ScopeOpenID}, slices.DeleteFunc(slices.Clone(s.Scopes), func(scope string) bool { return scope == oidc.ScopeOpenID })...),
	}, provider, nil
}

// reach returns the provider. On the first call it reads the provider's metadata.
func (s *Service) reach(ctx context.Context) (*oidc.Provider, error) {
	s.mu.Lock()
	provider := s.provider
	s.mu.Unlock()
	if provider != nil {
		return provider, nil
	}
	provider, err := oidc.NewProvider(ctx, s.Issuer)
	if err != nil {
		return nil, s.unavailable(ctx, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.provider = provider
	return provider, nil
}

// claims are a provider's statements about a user.
type claims map[string]any

func (c claims) identity(issuer, subject, groups string) registry.Identity {
	who := registry.Identity{Issuer: issuer, Subject: subject, Title: strings.TrimSpace(c.text("name"))}
	for _, claim := range []string{"preferred_username", "email"} {
		if name := c.text(claim); name != "" {
			who.Names = append(who.Names, strings.ToLower(name))
		}
	}
	switch listed := c[groups].(type) {
	case string:
		who.Groups = []string{listed}
	case []any:
		for _, group := range listed {
			if name, ok := group.(string); ok {
				who.Groups = append(who.Groups, name)
			}
		}
	}
	return who
}

func (c claims) text(name string) string {
	text, _ := c[name].(string)
	return text
}
