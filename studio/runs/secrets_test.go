package runs_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/internal/vault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/secrets"
)

// withSecrets adds a store of secrets to a kit.
func withSecrets(t *testing.T, k *kit, set ...secrets.Request) {
	t.Helper()
	keys, err := vault.Keys{}.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	service := secrets.New(secrets.Options{Store: k.store, Uses: k.store, Agents: k.store, Keys: keys, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	for _, one := range set {
		if _, err := service.Set(t.Context(), k.actor, one); err != nil {
			t.Fatal(err)
		}
	}
	k.Secrets = service
}

func TestSecretsThatCannotBeGivenStopARunBeforeItBegins(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	req := program("environment")
	req.Inline.Secrets = []string{"KEY", "SENT"}
	refused := func(code fault.Code, says string) {
		t.Helper()
		_, err := k.Execute(t.Context(), k.actor, req)
		if !fault.Is(err, code) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s: %s", err, code, says)
		}
	}
	refused(fault.SecretMissing, "available only on a server")
	sent := secrets.Request{Name: "SENT", Value: "hunter3hunter3", Binding: &registry.Binding{Host: "api.example.com:443", Header: "X-Key"}}
	withSecrets(t, k, sent)
	refused(fault.SecretMissing, "the secret KEY, which has no value")
	withSecrets(t, k, sent, secrets.Request{Name: "KEY", Value: "hunter2hunter2"})
	refused(fault.Conflict, `Add "api.example.com:443" to capabilities.hosts`)
	req.Inline.Language, req.Inline.Entrypoint = runtimes.WASM, "main.wasm"
	req.Inline.Files = map[string]registry.File{"main.wasm": registry.File("environment")}
	req.Inline.Capabilities.Hosts = []string{"api.example.com:443"}
	refused(fault.Conflict, "a WebAssembly module cannot reach")
	if page, err := k.List(t.Context(), k.actor, registry.RunFilter{}); err != nil || len(page.Items) > 0 {
		t.Errorf("%+v, %v", page, err)
	}
	req.Inline.Secrets = []string{"KEY"}
	run, err := k.Execute(t.Context(), k.actor, req)
	if err != nil || string(run.Output) != `{"KEY":"***"}` {
		t.Errorf("%s %+v, %v", run.Output, run.Error, err)
	}
}

// Secrets are redacted in every field of an error that a program can influence.
func TestErrorsAreRedacted(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	withSecrets(t, k, secrets.Request{Name: "KEY", Value: "hunter2hunter2"})
	req := program("call hunter2hunter2 {}")
	req.Inline.Secrets = []string{"KEY"}
	run, err := k.Execute(t.Context(), k.actor, req)
	if err != nil || run.Error == nil || run.Error.Type != runtimes.Denied || !strings.Contains(run.Error.Message, `host function "***"`) {
		t.Errorf("%+v, %v", run.Error, err)
	}
	uses, err := k.store.SecretUses(t.Context(), k.actor.Workspace, "", "KEY", "", 0)
	if err != nil || len(uses.Items) != 1 || uses.Items[0].RunID != run.ID {
		t.Errorf("%+v, %v", uses, err)
	}
}

// The hash of an input must be computed after redaction. Otherwise the hash would confirm a guess of the secret in the
// input.
func TestInputsHash_SecretInInput_NotOfTheSecret(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	withSecrets(t, k, secrets.Request{Name: "KEY", Value: "hunter2hunter2"})
	req := program("output 1")
	req.Inline.Secrets = []string{"KEY"}
	req.Input = json.RawMessage(`{"a":"hunter2hunter2"}`)
	run, err := k.Execute(t.Context(), k.actor, req)
	if err != nil {
		t.Fatal(err)
	}
	guess, err := jcs.Digest(req.Input)
	if err != nil || run.InputsHash == guess {
		t.Errorf("the hash is that of the input with the secret: %s, %v", run.InputsHash, err)
	}
	if stored, err := jcs.Digest(run.Input); err != nil || run.InputsHash != stored {
		t.Errorf("the hash is %s, and that of the stored input %s, %v", run.InputsHash, stored, err)
	}
}
