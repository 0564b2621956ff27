package secrets_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/internal/vault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/secrets"
)

const ws = registry.DefaultWorkspace

func ada() registry.Actor {
	return registry.Actor{ID: "ada", Type: registry.UserActor, Name: "Ada", Workspace: ws}
}

func open(t *testing.T, s *store.Store, log *bytes.Buffer) *secrets.Service {
	t.Helper()
	keys, err := vault.Keys{}.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	return secrets.New(secrets.Options{Store: s, Uses: s, Agents: s, Keys: keys, Log: telemetry.NewLog(log, "text", slog.LevelDebug), Now: time.Now})
}

func set(t *testing.T, service *secrets.Service, q secrets.Request) {
	t.Helper()
	if made, err := service.Set(t.Context(), ada(), q); err != nil || len(made.Sealed) > 0 {
		t.Fatalf("%+v, %v", made, err)
	}
}

// A row that is moved in the database to another agent, workspace or host cannot be decrypted.
func TestMovedRowsDoNotOpen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var log bytes.Buffer
		service := open(t, s, &log)
		set(t, service, secrets.Request{Name: "KEY", Value: "hunter2hunter2"})
		set(t, service, secrets.Request{Name: "SENT", Value: "hunter3hunter3", Binding: &registry.Binding{Host: "api.example.com:443", Header: "X-Key"}})
		given, err := service.Open(t.Context(), ws, "", []string{"SENT", "KEY", "KEY"})
		if err != nil || given.Environment["KEY"] != "hunter2hunter2" || len(given.Environment) != 1 || len(given.Bound) != 1 || given.Bound[0].Value != "hunter3hunter3" {
			t.Fatalf("%+v, %v", given, err)
		}
		rows, err := s.Secrets(t.Context(), ws)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CreateWorkspace(t.Context(), registry.Workspace{ID: "other", Name: "other", Title: "Other", CreatedAt: time.Now()}, ""); err != nil {
			t.Fatal(err)
		}
		for name, move := range map[string]func(*registry.Secret){
			"workspace": func(r *registry.Secret) { r.Workspace = "other" },
			"name":      func(r *registry.Secret) { r.Name = "ELSE" },
			"agent":     func(r *registry.Secret) { r.AgentID = "agent-2" },
			"binding":   func(r *registry.Secret) { r.Binding = &registry.Binding{Host: "evil.example.com:443", Header: "X-Key"} },
			"text":      func(r *registry.Secret) { r.Sealed = append([]byte{}, r.Sealed[1:]...) },
			"key":       func(r *registry.Secret) { r.KeyID = "another" },
		} {
			for _, row := range rows {
				was := row.Name
				move(&row)
				if err := s.PutSecret(t.Context(), row, secrets.Most); err != nil {
					t.Fatal(err)
				}
				given, err := service.Open(t.Context(), row.Workspace, row.AgentID, []string{row.Name})
				if !fault.Is(err, fault.SecretMissing) || strings.Contains(err.Error(), "hunter") || len(given.Values) > 0 {
					t.Errorf("%s of %s: %+v, %v", name, was, given, err)
				}
			}
			for _, row := range rows {
				if err := s.PutSecret(t.Context(), row, secrets.Most); err != nil {
					t.Fatal(err)
				}
			}
		}
		if strings.Contains(log.String(), "hunter") || !strings.Contains(log.String(), "open secret") {
			t.Error(log.String())
		}
	})
}

func TestBoundsOfSecrets(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	service := open(t, s, &bytes.Buffer{})
	names := []string{"A", "B", "C", "D", "E"}
	for _, name := range names {
		set(t, service, secrets.Request{Name: name, Value: strings.Repeat("x", secrets.MaxBytes)})
	}
	if _, err := service.Open(t.Context(), ws, "", names); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "larger than 64 KiB") {
		t.Error(err)
	}
	if _, err := service.Open(t.Context(), ws, "", names[:4]); err != nil {
		t.Error(err)
	}
	for i := len(names); i < secrets.Most; i++ {
		if err := s.PutSecret(t.Context(), registry.Secret{Workspace: ws, Name: "N" + strings.Repeat("x", i%60) + string(rune('a'+i/60)), KeyID: "k", Sealed: []byte("x"), SetBy: ada()}, secrets.Most); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := service.Set(t.Context(), ada(), secrets.Request{Name: "MORE", Value: "hunter2hunter2"}); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	set(t, service, secrets.Request{Name: "A", Value: "hunter2hunter2"}) // This call replaces the existing secret.
}

func TestResealedSecretsOpenWithTheNewKeyAlone(t *testing.T) {
	t.Parallel()
	old, err := vault.Keys{}.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	both, err := old.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.Open(t, storetest.SQLite)
	with := func(keys vault.Keys) *secrets.Service {
		return secrets.New(secrets.Options{Store: s, Uses: s, Agents: s, Keys: keys, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	}
	set(t, with(old), secrets.Request{Name: "KEY", Value: "hunter2hunter2"})
	if n, err := s.ResealSecrets(t.Context(), secrets.Reseal(both)); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if given, err := with(both.First()).Open(t.Context(), ws, "", []string{"KEY"}); err != nil || given.Environment["KEY"] != "hunter2hunter2" {
		t.Errorf("%+v, %v", given, err)
	}
	if _, err := with(old).Open(t.Context(), ws, "", []string{"KEY"}); err == nil {
		t.Error("the old key opens it")
	}
	if _, err := s.ResealSecrets(t.Context(), secrets.Reseal(old)); err == nil || !strings.Contains(err.Error(), "KEY of the workspace default") {
		t.Error(err)
	}
}
