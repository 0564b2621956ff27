package oidc_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/oidc"
)

const callback = "http://127.0.0.1:8002/login/oidc/callback"

// liar is a provider whose responses the test controls. The browser tests use a real provider.
type liar struct {
	*httptest.Server
	key     *rsa.PrivateKey
	claims  map[string]any
	info    map[string]any // response of the userinfo endpoint; nil removes the endpoint
	token   http.HandlerFunc
	asked   url.Values // form values of the last code exchange
	issuers string     // issuer in the provider's metadata; "" for the correct one
	tokens  string     // token endpoint in the provider's metadata; "" for the correct one
	log     bytes.Buffer
	fetched atomic.Int64 // number of times that the provider's keys were fetched
}

func newLiar(t *testing.T) *liar {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &liar{key: key, claims: map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		about := map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		}
		if p.issuers != "" {
			about["issuer"] = p.issuers
		}
		if p.tokens != "" {
			about["token_endpoint"] = p.tokens
		}
		if p.info != nil {
			about["userinfo_endpoint"] = p.URL + "/info"
		}
		answer(w, about)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.fetched.Add(1)
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/info", func(w http.ResponseWriter, _ *http.Request) { answer(w, p.info) })
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		p.asked = r.PostForm
		if p.token != nil {
			p.token(w, r)
			return
		}
		answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": p.sign(t, key)})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func (p *liar) sign(t *testing.T, key *rsa.PrivateKey) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(p.claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// begin starts an attempt, and makes the provider return correct claims for it.
func (p *liar) begin(t *testing.T) (*oidc.Service, oidc.Attempt, url.Values) {
	t.Helper()
	s := oidc.New(oidc.Options{
		Issuer: p.URL, Client: "studio", Secret: "s", Scopes: []string{"profile", "openid"}, GroupsClaim: "groups", Log: slog.New(slog.NewTextHandler(&p.log, nil)), Now: time.Now,
	})
	t.Cleanup(s.Close)
	attempt, address, err := s.Begin(t.Context(), callback)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	p.claims = map[string]any{
		"iss": p.URL, "aud": "studio", "sub": "42", "nonce": attempt.Nonce, "iat": now, "exp": now + 60,
		"name": " Ada Lovelace ", "preferred_username": "Ada", "email": "ada@example.com", "groups": []string{"engineers", "ops"},
	}
	return s, attempt, u.Query()
}

func TestSignInTellsWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	p := newLiar(t)
	s, attempt, question := p.begin(t)
	challenge := sha256.Sum256([]byte(attempt.Verifier))
	for name, want := range map[string]string{
		"state": attempt.State, "nonce": attempt.Nonce, "code_challenge_method": "S256", "code_challenge": base64.RawURLEncoding.EncodeToString(challenge[:]),
		"redirect_uri": callback, "response_type": "code", "scope": "openid profile", "client_id": "studio",
	} {
		if got := question.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	who, err := s.Finish(t.Context(), callback, attempt, url.Values{"state": {attempt.State}, "code": {"c"}, "iss": {p.URL}})
	if err != nil {
		t.Fatal(err)
	}
	if p.asked.Get("code_verifier") != attempt.Verifier || p.asked.Get("redirect_uri") != callback {
		t.Errorf("the exchange said %v", p.asked)
	}
	want := registry.Identity{Issuer: p.URL, Subject: "42", Title: "Ada Lovelace", Names: []string{"ada", "ada@example.com"}, Groups: []string{"engineers", "ops"}}
	if who.Issuer != want.Issuer || who.Subject != want.Subject || who.Title != want.Title || !slices.Equal(who.Names, want.Names) || !slices.Equal(who.Groups, want.Groups) {
		t.Errorf("%+v, want %+v", who, want)
	}
}

func TestWhatTheTokenSaysGoesBeforeTheRest(t *testing.T) {
	t.Parallel()
	p := newLiar(t)
	p.info = map[string]any{"sub": "42", "name": "Somebody Else", "groups": "administrators", "email": "further@example.com"}
	s, attempt, _ := p.begin(t)
	delete(p.claims, "groups")
	delete(p.claims, "email")
	who, err := s.Finish(t.Context(), callback, attempt, url.Values{"state": {attempt.State}, "code": {"c"}})
	if err != nil {
		t.Fatal(err)
	}
	if who.Title != "Ada Lovelace" || !slices.Equal(who.Groups, []string{"administrators"}) || !slices.Contains(who.Names, "further@example.com") {
		t.Errorf("%+v", who)
	}
}

func TestAnswersThatDoNotHold(t *testing.T) {
	t.Parallel()
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	fails := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	signed := func(p *liar, t *testing.T, key *rsa.PrivateKey) {
		p.token = func(w http.ResponseWriter, _ *http.Request) {
			answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": p.sign(t, key)})
		}
	}
	for name, test := range map[string]struct {
		edit func(t *testing.T, p *liar, answer url.Values)
		want fault.Code
	}{
		"another state":    {func(_ *testing.T, _ *liar, a url.Values) { a.Set("state", "x") }, fault.BadRequest},
		"no state":         {func(_ *testing.T, _ *liar, a url.Values) { a.Del("state") }, fault.BadRequest},
		"another provider": {func(_ *testing.T, _ *liar, a url.Values) { a.Set("iss", "https://evil.example") }, fault.Unauthenticated},
		"a refusal":        {func(_ *testing.T, _ *liar, a url.Values) { a.Set("error", "access_denied") }, fault.Unauthenticated},
		"no code":          {func(_ *testing.T, _ *liar, a url.Values) { a.Del("code") }, fault.Unauthenticated},
		"another nonce":    {func(_ *testing.T, p *liar, _ url.Values) { p.claims["nonce"] = "x" }, fault.Unauthenticated},
		"no nonce":         {func(_ *testing.T, p *liar, _ url.Values) { delete(p.claims, "nonce") }, fault.Unauthenticated},
		"another client's": {func(_ *testing.T, p *liar, _ url.Values) { p.claims["aud"] = "other" }, fault.Unauthenticated},
		"another issuer's": {func(_ *testing.T, p *liar, _ url.Values) { p.claims["iss"] = "https://evil.example" }, fault.Unauthenticated},
		"an old one":       {func(_ *testing.T, p *liar, _ url.Values) { p.claims["exp"] = time.Now().Add(-time.Hour).Unix() }, fault.Unauthenticated},
		"another key":      {func(t *testing.T, p *liar, _ url.Values) { signed(p, t, stranger) }, fault.Unauthenticated},
		"no signature": {func(_ *testing.T, p *liar, _ url.Values) {
			p.token = func(w http.ResponseWriter, _ *http.Request) {
				body, _ := json.Marshal(p.claims)
				answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(body) + "."})
			}
		}, fault.Unauthenticated},
		"no token at all": {func(_ *testing.T, p *liar, _ url.Values) {
			p.token = fails(http.StatusOK, `{"access_token":"a","token_type":"Bearer"}`)
		}, fault.Unauthenticated},
		"somebody else's words":  {func(_ *testing.T, p *liar, _ url.Values) { p.info = map[string]any{"sub": "43", "groups": "ops"} }, fault.Unauthenticated},
		"a code that was used":   {func(_ *testing.T, p *liar, _ url.Values) { p.token = fails(400, `{"error":"invalid_grant"}`) }, fault.Unauthenticated},
		"a client it knows not":  {func(_ *testing.T, p *liar, _ url.Values) { p.token = fails(401, `{"error":"invalid_client"}`) }, fault.ProviderUnavailable},
		"a provider that is ill": {func(_ *testing.T, p *liar, _ url.Values) { p.token = fails(502, `oh`) }, fault.ProviderUnavailable},
		"an answer without end": {func(_ *testing.T, p *liar, _ url.Values) {
			p.token = fails(http.StatusOK, `{"access_token":"`+strings.Repeat("a", 2<<20)+`"}`)
		}, fault.ProviderUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLiar(t)
			if name == "somebody else's words" {
				p.info = map[string]any{} // The userinfo endpoint must exist before the metadata is read.
			}
			s, attempt, _ := p.begin(t)
			back := url.Values{"state": {attempt.State}, "code": {"c"}}
			test.edit(t, p, back)
			who, err := s.Finish(t.Context(), callback, attempt, back)
			if !fault.Is(err, test.want) {
				t.Errorf("%+v, %v, want %s", who, err, test.want)
			}
		})
	}
}

func TestAnAttemptWithoutSecretsNeverEndsWell(t *testing.T) {
	t.Parallel()
	p := newLiar(t)
	s, _, _ := p.begin(t)
	if _, err := s.Finish(t.Context(), callback, oidc.Attempt{}, url.Values{"state": {""}, "code": {"c"}}); !fault.Is(err, fault.BadRequest) {
		t.Errorf("%v", err)
	}
}

func TestAProviderThatComesBackIsAskedAgain(t *testing.T) {
	t.Parallel()
	p := newLiar(t)
	s := oidc.New(oidc.Options{Issuer: p.URL, Client: "studio", Log: slog.New(slog.DiscardHandler), Now: time.Now})
	t.Cleanup(s.Close)
	p.issuers = "https://another.example"
	if _, _, err := s.Begin(t.Context(), callback); !fault.Is(err, fault.ProviderUnavailable) {
		t.Fatalf("a provider that calls itself otherwise: %v", err)
	}
	p.issuers = ""
	if _, _, err := s.Begin(t.Context(), callback); err != nil {
		t.Fatal(err)
	}
}

// Regression: if a proxy answered instead of the provider, its whole page was logged, which was up to a megabyte for
// each sign-in.
func TestWhatAProviderAnswersIsNotLoggedWhole(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = w.Write([]byte(strings.Repeat("page ", 2000)))
	}))
	t.Cleanup(page.Close)
	var log bytes.Buffer
	s := oidc.New(oidc.Options{Issuer: page.URL, Client: "studio", Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now})
	t.Cleanup(s.Close)
	if _, _, err := s.Begin(t.Context(), callback); !fault.Is(err, fault.ProviderUnavailable) || log.Len() > 1000 || !strings.Contains(log.String(), "502") {
		t.Errorf("%v, and %d bytes in the log: %.200s", err, log.Len(), log.String())
	}
}

// The provider's metadata must not make the server use unencrypted addresses.
func TestCodesGoNowhereUnencrypted(t *testing.T) {
	t.Parallel()
	p := newLiar(t)
	p.tokens = "http://login.example.com/token"
	s, attempt, _ := p.begin(t)
	_, err := s.Finish(t.Context(), callback, attempt, url.Values{"state": {attempt.State}, "code": {"c"}})
	if !fault.Is(err, fault.ProviderUnavailable) || !strings.Contains(p.log.String(), "is not encrypted") {
		t.Errorf("%v\n%s", err, &p.log)
	}
}
