package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func secret(name, agentID string) registry.Secret {
	return registry.Secret{Workspace: ws, AgentID: agentID, Name: name, KeyID: "k1", Sealed: []byte("\x00sealed\xff"), SetAt: start, SetBy: ada}
}

func put(t *testing.T, s *store.Store, secrets ...registry.Secret) {
	t.Helper()
	for _, one := range secrets {
		if err := s.PutSecret(t.Context(), one, 100); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		shared, own, foreign := secret("KEY", ""), secret("KEY", a.ID), secret("KEY", "")
		own.Agent, own.Binding = a.Name, &registry.Binding{Host: "api.example.com:443", Header: "Authorization", Format: "Bearer {value}"}
		foreign.Workspace = tenant(t, s, "other", registry.DefaultUser).ID
		put(t, s, own, shared, foreign, secret("OTHER", ""))
		got, err := s.SecretsOf(t.Context(), ws, a.ID, []string{"KEY", "NONE"})
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, []registry.Secret{shared, own})
		if got, err := s.SecretsOf(t.Context(), ws, "another", []string{"KEY"}); err != nil || len(got) != 1 || got[0].AgentID != "" {
			t.Errorf("another agent is given %v, %v", got, err)
		}
		shared.Sealed, shared.KeyID, shared.SetAt = []byte("new"), "k2", start.Add(time.Hour)
		put(t, s, shared)
		if all, err := s.Secrets(t.Context(), ws); err != nil || len(all) != 3 {
			t.Errorf("%v, %v", all, err)
		} else {
			same(t, all[0], shared)
		}
		keys, err := s.SecretKeys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, keys, map[string]int{"k1": 3, "k2": 1})
		expect(t, s.DeleteSecret(t.Context(), ws, "another", "KEY"), fault.NotFound)
		expect(t, s.DeleteSecret(t.Context(), ws, "", "KEY\x00"), fault.NotFound)
		if err := s.DeleteSecret(t.Context(), ws, "", "KEY"); err != nil {
			t.Error(err)
		}
		expect(t, s.DeleteSecret(t.Context(), ws, "", "KEY"), fault.NotFound)
		if left, err := s.Secrets(t.Context(), foreign.Workspace); err != nil || len(left) != 1 {
			t.Errorf("the other workspace has %v, %v", left, err)
		}
	})
}

func TestSecretsAreSealedAnewAllOrNone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		put(t, s, secret("A", ""), secret("B", ""), secret("C", ""))
		broken := errors.New("cannot be opened")
		_, err := s.ResealSecrets(t.Context(), func(one registry.Secret) (string, []byte, error) {
			if one.Name == "C" {
				return "", nil, broken
			}
			return "k2", []byte(one.Name), nil
		})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
		if keys, err := s.SecretKeys(t.Context()); err != nil || keys["k1"] != 3 {
			t.Errorf("some secrets were encrypted again: %v, %v", keys, err)
		}
		n, err := s.ResealSecrets(t.Context(), func(one registry.Secret) (string, []byte, error) { return "k2", []byte(one.Name), nil })
		if err != nil || n != 3 {
			t.Error(n, err)
		}
		all, err := s.Secrets(t.Context(), ws)
		if err != nil || len(all) != 3 || string(all[2].Sealed) != "C" || all[2].KeyID != "k2" {
			t.Errorf("%v, %v", all, err)
		}
	})
}

func TestUsesOfSecrets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		put(t, s, secret("KEY", ""))
		var want []registry.SecretUse
		for i := range 5 {
			use := registry.SecretUse{Workspace: ws, RunID: newID(), Name: "KEY", RunAgentID: "a1", RunAgent: "weather", Version: "1.0.0", At: start.Add(time.Duration(i/2) * time.Second)}
			foreign := use
			foreign.Workspace = "other"
			if err := s.NoteSecretUses(t.Context(), []registry.SecretUse{use, foreign}); err != nil {
				t.Fatal(err)
			}
			want = append([]registry.SecretUse{use}, want...)
		}
		var got []registry.SecretUse
		for cursor := ""; ; {
			page, err := s.SecretUses(t.Context(), ws, "", "KEY", cursor, 2)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, page.Items...)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		same(t, got, want)
		_, err := s.SecretUses(t.Context(), ws, "", "KEY", "nonsense", 2)
		expect(t, err, fault.InvalidInput)
		if all, err := s.Secrets(t.Context(), ws); err != nil || all[0].LastUsed == nil || !all[0].LastUsed.Equal(want[0].At) {
			t.Errorf("%v, %v", all, err)
		}
		if n, err := s.SweepSecretUses(t.Context(), start.Add(time.Second), 100); err != nil || n != 4 {
			t.Error(n, err)
		}
		if page, err := s.SecretUses(t.Context(), ws, "", "KEY", "", 0); err != nil || len(page.Items) != 3 {
			t.Errorf("%v, %v", page, err)
		}
	})
}

func TestDeclarationsOfSecrets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		one := agent("weather")
		one.Draft.Secrets = []string{"A", "B"}
		create(t, s, one)
		v := version(one, "1.0.0")
		v.Secrets = []string{"A"}
		if err := s.InsertVersion(t.Context(), ws, v); err != nil {
			t.Fatal(err)
		}
		gone := agent("gone")
		gone.Draft.Secrets = []string{"A"}
		create(t, s, gone)
		if err := s.DeleteAgent(t.Context(), ws, gone.ID, true, start, registry.Deletion{}); err != nil {
			t.Fatal(err)
		}
		none := agent("none")
		none.Draft.Secrets = nil
		create(t, s, none)
		got, err := s.SecretDeclarations(t.Context(), ws)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, []registry.SecretDeclaration{{Name: "A", AgentID: one.ID, Agent: "weather", Version: "1.0.0"}, {Name: "A", AgentID: one.ID, Agent: "weather", Version: "draft"}, {Name: "B", AgentID: one.ID, Agent: "weather", Version: "draft"}})
		if got, err := s.SecretDeclarations(t.Context(), "other"); err != nil || len(got) != 0 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// TestSecretsAreBoundedWhenTheyAreSetAtOnce checks that only one of several concurrent requests can store the last
// secret that the limit allows.
func TestSecretsAreBoundedWhenTheyAreSetAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const most = 3
		put(t, s, secret("A", ""), secret("B", ""))
		faults := make(chan error)
		for _, name := range []string{"C", "D", "E", "F"} {
			go func() { faults <- s.PutSecret(t.Context(), secret(name, ""), most) }()
		}
		refused := 0
		for range 4 {
			if err := <-faults; fault.Is(err, fault.Conflict) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		if all, err := s.Secrets(t.Context(), ws); err != nil || len(all) != most || refused != 3 {
			t.Errorf("%d secrets, %d refused, %v", len(all), refused, err)
		}
		if err := s.PutSecret(t.Context(), secret("A", ""), most); err != nil { // replaces the secret A
			t.Error(err)
		}
		expect(t, s.PutSecret(t.Context(), registry.Secret{Workspace: "nowhere", Name: "A", KeyID: "k", Sealed: []byte{1}}, most), fault.NoWorkspace)
	})
}
