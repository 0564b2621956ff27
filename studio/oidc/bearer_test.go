package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/oidc"
)

func TestRead_AccessToken(t *testing.T) {
	t.Parallel()
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change  map[string]any
		key     *rsa.PrivateKey
		text    string
		want    fault.Code
		grouped bool
	}{
		"valid":                  {grouped: true},
		"without groups":         {change: map[string]any{"groups": nil}},
		"expired":                {change: map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}, want: fault.Unauthenticated},
		"of another issuer":      {change: map[string]any{"iss": "https://other.example"}, want: fault.Unauthenticated},
		"of another key":         {key: stranger, want: fault.Unauthenticated},
		"an ID token":            {change: map[string]any{"aud": []string{"studio"}}, want: fault.Unauthenticated},
		"for the Studio as well": {change: map[string]any{"aud": []string{"https://a.example/mcp", "studio"}}, want: fault.Unauthenticated},
		"not a JWT":              {text: "a.b.c", want: fault.Unauthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLiar(t)
			p.claims = map[string]any{
				"iss": p.URL, "sub": "1", "aud": []string{"https://a.example/mcp"}, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
				"preferred_username": "ada", "groups": []string{"engineers"},
			}
			for claim, value := range tt.change {
				if p.claims[claim] = value; value == nil {
					delete(p.claims, claim)
				}
			}
			s := oidc.New(oidc.Options{Issuer: p.URL, Client: "studio", GroupsClaim: "groups", Log: slog.New(slog.DiscardHandler), Now: time.Now})
			t.Cleanup(s.Close)
			token := tt.text
			switch {
			case token != "":
			case tt.key != nil:
				token = p.sign(t, tt.key)
			default:
				token = p.sign(t, p.key)
			}
			read, err := s.Read(t.Context(), token)
			if tt.want != "" {
				if !fault.Is(err, tt.want) {
					t.Errorf("error is %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil || read.Grouped != tt.grouped || !slices.Equal(read.Audiences, []string{"https://a.example/mcp"}) || read.Identity.Subject != "1" || !slices.Contains(read.Identity.Names, "ada") {
				t.Errorf("token is %+v, %v", read, err)
			}
		})
	}
}

func TestRead_ProviderDown_Unavailable(t *testing.T) {
	t.Parallel()
	p := newLiar(t)
	s := oidc.New(oidc.Options{Issuer: p.URL, Client: "studio", Log: slog.New(slog.DiscardHandler), Now: time.Now})
	t.Cleanup(s.Close)
	p.Close()
	if _, err := s.Read(t.Context(), "a.b.c"); !fault.Is(err, fault.ProviderUnavailable) {
		t.Errorf("error is %v", err)
	}
}

// Wrong tokens of strangers must not cause requests to the provider. A correct token among them must be accepted.
func TestRead_ManyWrongTokens_KeysFetchedOnce(t *testing.T) {
	t.Parallel()
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := newLiar(t)
	p.claims = map[string]any{"iss": p.URL, "sub": "1", "aud": []string{"https://a.example/mcp"}, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix()}
	now := time.Now()
	s := oidc.New(oidc.Options{Issuer: p.URL, Client: "studio", GroupsClaim: "groups", Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }})
	t.Cleanup(s.Close)
	for range 20 {
		if _, err := s.Read(t.Context(), p.sign(t, stranger)); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("error is %v", err)
		}
	}
	if _, err := s.Read(t.Context(), p.sign(t, p.key)); err != nil {
		t.Errorf("a right token is refused: %v", err)
	}
	if n := p.fetched.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// If the keys cannot be fetched, a token must be reported as unverifiable, and not as wrong. Cached keys must verify
// tokens while the provider is down.
func TestRead_KeysUnreachable_Unavailable(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"keys unknown": false, "keys known": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLiar(t)
			p.claims = map[string]any{"iss": p.URL, "sub": "1", "aud": []string{"https://a.example/mcp"}, "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix()}
			s := oidc.New(oidc.Options{Issuer: p.URL, Client: "studio", GroupsClaim: "groups", Log: slog.New(slog.DiscardHandler), Now: time.Now})
			t.Cleanup(s.Close)
			if _, _, err := s.Begin(t.Context(), callback); err != nil { // Begin reads the metadata, but not the keys.
				t.Fatal(err)
			}
			token := p.sign(t, p.key)
			if known {
				if _, err := s.Read(t.Context(), token); err != nil {
					t.Fatal(err)
				}
			}
			p.Close()
			if _, err := s.Read(t.Context(), token); known && err != nil || !known && !fault.Is(err, fault.ProviderUnavailable) {
				t.Errorf("error is %v", err)
			}
		})
	}
}
