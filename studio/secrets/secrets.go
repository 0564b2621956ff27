// Package secrets stores the secrets that programs declare by name. Their values are stored encrypted, are decrypted
// only for a run, and are never returned by an API. If an agent and its workspace have a secret with the same name, the
// agent's secret applies.
package secrets

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/internal/vault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// Store stores encrypted secrets.
type Store interface {
	PutSecret(ctx context.Context, secret registry.Secret, most int) error
	Secrets(ctx context.Context, workspace string) ([]registry.Secret, error)
	SecretsOf(ctx context.Context, workspace, agentID string, names []string) ([]registry.Secret, error)
	DeleteSecret(ctx context.Context, workspace, agentID, name string) error
}

// Uses records which run received which secret. It also returns the declarations of secrets.
type Uses interface {
	NoteSecretUses(ctx context.Context, uses []registry.SecretUse) error
	SecretUses(ctx context.Context, workspace, agentID, name, cursor string, limit int) (registry.SecretUses, error)
	SecretDeclarations(ctx context.Context, workspace string) ([]registry.SecretDeclaration, error)
}

// Agents reads the agent to which a secret belongs.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
}

// These are the limits of secrets.
const (
	Most       = 200      // maximum number of secrets of a workspace
	MaxBytes   = 16 << 10 // maximum size of one value in bytes
	MaxRun     = 64 << 10 // maximum total size in bytes of the values of a run
	maxFormat  = 200
	valueField = "{value}"
)

// Options configures a Service.
type Options struct {
	Store  Store
	Uses   Uses
	Agents Agents
	Keys   vault.Keys
	Log    *slog.Logger
	Now    func() time.Time
}

// Service stores secrets and passes them to runs. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// Listed is a secret in a list, without its value.
type Listed struct {
	registry.Secret
	UsedBy []registry.SecretDeclaration // versions and drafts whose runs receive this secret
}

// List returns the secrets of the actor's workspace.
func (s *Service) List(ctx context.Context, actor registry.Actor) ([]Listed, error) {
	all, err := s.Store.Secrets(ctx, actor.Workspace)
	if err != nil || len(all) == 0 { // If there are no secrets, skip the query for declarations, because it reads all versions.
		return nil, err
	}
	declared, err := s.Uses.SecretDeclarations(ctx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	own := map[[2]string]bool{} // set of the agents' own secrets, which take precedence over secrets of the workspace
	for _, one := range all {
		own[[2]string{one.AgentID, one.Name}] = one.AgentID != ""
	}
	listed := make([]Listed, 0, len(all))
	for _, one := range all {
		l := Listed{Secret: one}
		l.Sealed = nil
		for _, d := range declared {
			if d.Name == one.Name && (d.AgentID == one.AgentID || one.AgentID == "" && !own[[2]string{d.AgentID, d.Name}]) {
				l.UsedBy = append(l.UsedBy, d)
			}
		}
		listed = append(listed, l)
	}
	return listed, nil
}

// Request is a secret to store.
type Request struct {
	Name    string
	Agent   string // name or ID of an agent; "" for all agents of the workspace
	Value   string
	Binding *registry.Binding
}

// Set stores a value and replaces an earlier value. The host to which the secret is bound is part of the associated
// data of the encryption, so it can only change together with the value.
func (s *Service) Set(ctx context.Context, actor registry.Actor, q Request) (registry.Secret, error) {
	if err := check(&q); err != nil {
		return registry.Secret{}, err
	}
	agentID, agent, err := s.agentOf(ctx, actor, q.Agent)
	if err != nil {
		return registry.Secret{}, err
	}
	secret := registry.Secret{
		Workspace: actor.Workspace, AgentID: agentID, Agent: agent, Name: q.Name, Binding: q.Binding, SetAt: s.Now(), SetBy: actor,
	}
	if secret.KeyID, secret.Sealed, err = s.Keys.Seal([]byte(q.Value), about(secret)...); err != nil {
		return registry.Secret{}, err
	}
	err = s.Store.PutSecret(ctx, secret, Most)
	secret.Sealed = nil
	return secret, err
}

// Remove removes a secret. Runs that have already started keep using its value.
func (s *Service) Remove(ctx context.Context, actor registry.Actor, name, agent string) error {
	agentID, _, err := s.agentOf(ctx, actor, agent)
	if err != nil {
		return err
	}
	return s.Store.DeleteSecret(ctx, actor.Workspace, agentID, name)
}

// UsesOf returns a page of the runs that received a secret, newest first.
func (s *Service) UsesOf(ctx context.Context, actor registry.Actor, name, agent, cursor string, limit int) (registry.SecretUses, error) {
	agentID, _, err := s.agentOf(ctx, actor, agent)
	if err != nil {
		return registry.SecretUses{}, err
	}
	return s.Uses.SecretUses(ctx, actor.Workspace, agentID, name, cursor, limit)
}

func (s *Service) agentOf(ctx context.Context, actor registry.Actor, nameOrID string) (id, name string, err error) {
	if nameOrID == "" {
		return "", "", nil
	}
	a, err := s.Agents.Agent(ctx, actor.Workspace, nameOrID)
	return a.ID, a.Name, err
}

// Given holds the secrets of a run. Environment contains values for the program's environment. Bound contains values
// that are added to requests to a host, and that the program never sees.
type Given struct {
	Environment map[string]string
	Bound       []runtimes.BoundSecret
	Values      []string // all values, for redaction
	uses        []registry.SecretUse
}

// Open decrypts the secrets that a version declares, for use in a run. Error: SecretMissing if a secret has no value.
func (s *Service) Open(ctx context.Context, workspace, agentID string, names []string) (Given, error) {
	found, err := s.Store.SecretsOf(ctx, workspace, agentID, names)
	if err != nil {
		return Given{}, err
	}
	given, missing, total := Given{Environment: map[string]string{}}, []string{}, 0
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		one, ok := best(found, name)
		if !ok {
			missing = append(missing, name)
			continue
		}
		text, err := s.Keys.Open(one.KeyID, one.Sealed, about(one)...)
		if err != nil {
			s.Log.LogAttrs(ctx, slog.LevelError, "open secret", slog.String("workspace", workspace), slog.String("secret", name), slog.String("key_id", one.KeyID), slog.Any("error", err))
			return Given{}, fault.New(fault.SecretMissing, "The secret %s cannot be decrypted. Set it again.", name)
		}
		value := string(text)
		total += len(value)
		given.Values = append(given.Values, value)
		given.uses = append(given.uses, registry.SecretUse{Workspace: workspace, Name: name, AgentID: one.AgentID})
		if one.Binding == nil {
			given.Environment[name] = value
			continue
		}
		bound := runtimes.BoundSecret{Name: name, Host: one.Binding.Host, Header: one.Binding.Header, Value: formatted(*one.Binding, value), Secret: value}
		given.Bound, given.Values = append(given.Bound, bound), append(given.Values, bound.Value)
	}
	if len(missing) > 0 {
		return Given{}, absent(missing)
	}
	if total > MaxRun {
		return Given{}, fault.New(fault.Conflict, "The secrets of this version are larger than %s in total. Declare fewer secrets.", bytesize.Text(MaxRun))
	}
	return given, nil
}

func absent(names []string) error {
	what := "the secret " + names[0] + ", which has"
	if len(names) > 1 {
		what = "the secrets " + strings.Join(names, ", ") + ", which have"
	}
	return &fault.Error{
		Code: fault.SecretMissing, Extra: map[string]any{"secrets": names},
		Message: fmt.Sprintf("The program declares %s no value in this workspace. Set it in the Studio under Secrets, or with: atelier secrets set %s", what, names[0]),
	}
}

// best returns the agent's own secret with a name. If the agent has none, it returns the secret of the workspace.
func best(found []registry.Secret, name string) (best registry.Secret, ok bool) {
	for _, one := range found {
		if one.Name == name && (!ok || one.AgentID != "") {
			best, ok = one, true
		}
	}
	return best, ok
}

// Used records that a run receives the given secrets.
func (s *Service) Used(ctx context.Context, given Given, run registry.Run) error {
	uses := slices.Clone(given.uses)
	for i := range uses {
		uses[i].RunID, uses[i].RunAgentID, uses[i].RunAgent, uses[i].Version, uses[i].At = run.ID, run.AgentID, run.Agent, run.Version, s.Now()
	}
	return s.Uses.NoteSecretUses(ctx, uses)
}

// about returns the associated data that binds an encrypted value to its secret.
func about(one registry.Secret) []string {
	words := []string{"secret", one.Workspace, one.AgentID, one.Name}
	if one.Binding != nil {
		words = append(words, one.Binding.Host, one.Binding.Header, one.Binding.Format)
	}
	return words
}

// Reseal returns a function that encrypts a secret again with the first of the keys.
func Reseal(keys vault.Keys) func(registry.Secret) (keyID string, sealed []byte, err error) {
	return func(one registry.Secret) (string, []byte, error) {
		text, err := keys.Open(one.KeyID, one.Sealed, about(one)...)
		if err != nil {
			return "", nil, fmt.Errorf("the secret %s of the workspace %s: %w", one.Name, one.Workspace, err)
		}
		return keys.Seal(text, about(one)...)
	}
}

func formatted(b registry.Binding, value string) string {
	if b.Format == "" {
		return value
	}
	return strings.ReplaceAll(b.Format, valueField, value)
}

// check returns an error for an invalid secret. It also normalizes the host to which the secret is bound.
func check(q *Request) error {
	if problem := registry.CheckVariable(q.Name); problem != "" {
		return fault.Invalid("/name", "%s", problem)
	}
	switch {
	case strings.TrimSpace(q.Value) == "":
		return fault.Invalid("/value", "is required.")
	case len(q.Value) > MaxBytes:
		return fault.Invalid("/value", "must have at most %s.", bytesize.Text(MaxBytes))
	case strings.ContainsRune(q.Value, 0), !utf8.ValidString(q.Value):
		return fault.Invalid("/value", "must be text without the character U+0000; encode binary data, for example in base64.")
	case len(strings.TrimSpace(q.Value)) < redact.Shortest:
		return fault.Invalid("/value", "must have at least %d bytes, because shorter values cannot be redacted. Put values that are not secret into the agent's environment.", redact.Shortest)
	}
	if q.Binding == nil {
		return nil
	}
	return checkBinding(q)
}

func checkBinding(q *Request) error {
	b := *q.Binding
	grant, err := hostpattern.ParseGrant(b.Host)
	switch {
	case err != nil:
		return fault.Invalid("/bind/host", "%s.", err)
	case strings.ContainsAny(grant.String(), "*/"):
		return fault.Invalid("/bind/host", "must be one host and port, for example api.example.com:443.")
	case !httpguts.ValidHeaderFieldName(b.Header), hostpattern.Framing(b.Header):
		return fault.Invalid("/bind/header", "must be a request header, for example Authorization or X-Api-Key.")
	case b.Format != "" && strings.Count(b.Format, valueField) != 1, len(b.Format) > maxFormat:
		return fault.Invalid("/bind/format", "must be short and contain %s once, for example: Bearer %s", valueField, valueField)
	case !httpguts.ValidHeaderFieldValue(formatted(b, q.Value)):
		return fault.Invalid("/value", "must not contain characters that are not allowed in an HTTP header, for example line breaks, if the secret is bound to a host.")
	}
	b.Host = grant.String()
	q.Binding = &b
	return nil
}
