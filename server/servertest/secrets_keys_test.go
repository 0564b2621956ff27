package servertest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/vault"
	"github.com/atelier-run/atelier/server/servertest"
)

// keep starts a server on a directory, stores secrets of different lengths in it, and stops the server.
func keep(t *testing.T, data string, secrets int) {
	t.Helper()
	s := servertest.On(t, data)
	s.Create(t, map[string]any{"name": "measure", "language": "javascript", "secrets": []string{"KEY"}, "code": "export default (_, ctx) => ctx.env.KEY.length"})
	for i := range secrets {
		s.Want(t, 200, http.MethodPut, fmt.Sprintf("/api/v1/secrets/KEY_%d", i), map[string]string{"value": strings.Repeat("x", 100+i)})
	}
	s.Want(t, 200, http.MethodPut, "/api/v1/secrets/KEY", map[string]string{"value": strings.Repeat("y", 77)})
	s.Stop(t)
}

// opens starts a server on a directory, and checks with a run that the server can decrypt a secret.
func opens(t *testing.T, data string) {
	t.Helper()
	s := servertest.On(t, data)
	if run := s.Execute(t, "measure", "draft", map[string]any{}); string(run.Output) != "77" {
		t.Errorf("%s %+v", run.Output, run.Error)
	}
	s.Stop(t)
}

func TestServerWithoutItsKeyDoesNotStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	keep(t, data, 1)
	file := filepath.Join(data, "secrets.key")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := vault.Keys{}.Fresh()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		prepare func() error
		flags   []string
		code    int
		want    []string
	}{
		"missing":       {func() error { return os.Remove(file) }, nil, 1, []string{"2 secrets", "key file " + file, "ATELIER_SECRETS_KEY_FILE", "ATELIER_SECRETS_KEY"}},
		"wrong":         {func() error { return wrong.Write(file) }, nil, 1, []string{"does not contain the key of 2 secrets", file, "ATELIER_SECRETS_KEY_FILE"}},
		"no key":        {func() error { return os.WriteFile(file, []byte("hunter2hunter2"), 0o600) }, nil, 1, []string{file, "openssl rand -base64 32"}},
		"named, absent": {func() error { return nil }, []string{"--secrets-key-file", filepath.Join(data, "none")}, 1, []string{"secrets-key-file", "openssl"}},
		"both":          {func() error { return nil }, []string{"--secrets-key-file", file, "--secrets-key", strings.Repeat("ab", 32)}, 2, []string{"secrets-key and secrets-key-file"}},
		"other":         {func() error { return nil }, []string{"--secrets-key", strings.Repeat("ab", 32)}, 1, []string{"secrets-key (ATELIER_SECRETS_KEY) does not contain the key"}},
		"bad":           {func() error { return nil }, []string{"--secrets-key", "hunter2hunter2"}, 2, []string{"--secrets-key"}},
	} {
		if err := tt.prepare(); err != nil {
			t.Fatal(err)
		}
		said := servertest.Command(t, "", append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, tt.flags...)...)
		for _, want := range tt.want {
			if said.Code != tt.code || !strings.Contains(said.Stderr, want) || strings.Contains(said.Stderr, "hunter2") {
				t.Errorf("%s: exit %d, no %q in: %s", name, said.Code, want, said.Stderr)
			}
		}
		if err := os.WriteFile(file, key, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opens(t, data)
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	keep(t, data, 3)
	file := filepath.Join(data, "secrets.key")
	before, _, err := vault.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	said := servertest.Command(t, "", "secrets", "rotate-key", "--data", data)
	after, _, err := vault.Read(file)
	if err != nil || said.Code != 0 || !strings.Contains(said.Stderr, "encrypted 4 secrets with the key "+after.ID()) || after.ID() == before.ID() || after.Has(before.ID()) {
		t.Errorf("exit %d: %s, %v", said.Code, said.Stderr, err)
	}
	opens(t, data)
	running := servertest.On(t, data)
	if said := servertest.Command(t, "", "secrets", "rotate-key", "--data", data); said.Code != 1 || !strings.Contains(said.Stderr, "in use by another atelier process") {
		t.Errorf("exit %d: %s", said.Code, said.Stderr)
	}
	running.Stop(t)
}

// TestKilledRotation kills a key rotation after the new key is in the file, before or while the secrets are
// re-encrypted. Afterwards the server must still decrypt the secrets, and the next rotation must succeed.
func TestKilledRotation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	keep(t, data, 60)
	file := filepath.Join(data, "secrets.key")
	for range 3 {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rotation := exec.CommandContext(t.Context(), servertest.Binary(t), "secrets", "rotate-key", "--data", data)
		rotation.Env, rotation.Dir = []string{}, t.TempDir()
		if err := rotation.Start(); err != nil {
			t.Fatal(err)
		}
		for {
			if now, err := os.ReadFile(file); err == nil && !bytes.Equal(now, before) {
				break
			}
		}
		_ = rotation.Process.Kill() // Ignore the error: the process may have finished.
		_ = rotation.Wait()
		opens(t, data)
	}
	if said := servertest.Command(t, "", "secrets", "rotate-key", "--data", data); said.Code != 0 {
		t.Fatal(said.Stderr)
	}
	text, err := os.ReadFile(file)
	keys, _ := vault.Parse(string(text))
	if err != nil || keys.First().ID() == "" || strings.Count(string(text), "=\n") != 1 {
		t.Errorf("more than one key is left: %s, %v", text, err)
	}
	opens(t, data)
}

func TestSecretsCommands(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Create(t, map[string]any{"name": "measure", "language": "javascript", "secrets": []string{"KEY"}, "code": "export default (_, ctx) => ctx.env.KEY.length"})
	atelier := func(stdin string, args ...string) servertest.Said {
		return servertest.Command(t, stdin, append(args, "--server", s.URL, "--token", s.Token)...)
	}
	if said := atelier("hunter2hunter2\n", "secrets", "set", "KEY"); said.Code != 0 || strings.Contains(said.Stdout+said.Stderr, "hunter2") {
		t.Errorf("%+v", said)
	}
	if said := atelier("hunter3hunter3 \r\n", "secrets", "set", "KEY", "-", "--agent", "measure"); said.Code != 0 {
		t.Errorf("%+v", said)
	}
	if run := s.Execute(t, "measure", "draft", map[string]any{}); string(run.Output) != "15" {
		t.Errorf("%s %+v", run.Output, run.Error)
	}
	for name, args := range map[string][]string{"value on the line": {"KEY", "hunter2hunter2"}, "host alone": {"KEY", "--host", "x:443"}, "format alone": {"KEY", "--format", "x"}, "nothing": {"KEY"}} {
		if said := atelier("", append([]string{"secrets", "set"}, args...)...); said.Code != 2 || strings.Contains(said.Stderr, "hunter2") {
			t.Errorf("%s: %+v", name, said)
		}
	}
	// Regression: a value that was too long was cut at a line break and then stored.
	if said := atelier(strings.Repeat("x", 16<<10)+"\r\n"+"more", "secrets", "set", "KEY"); said.Code != 3 || !strings.Contains(said.Stderr, "/value must have at most 16 KiB") {
		t.Errorf("too long: %+v", said)
	}
	if said := atelier("short", "secrets", "set", "KEY"); said.Code != 3 || !strings.Contains(said.Stderr, "/value must have at least 8 bytes") {
		t.Errorf("%+v", said)
	}
	if said := atelier("hunter2hunter2", "secrets", "set", "SENT", "--host", "api.example.com:443", "--header", "X-Key"); said.Code != 0 {
		t.Errorf("%+v", said)
	}
	said := atelier("", "secrets", "list")
	for _, want := range []string{"KEY ", "measure@draft", "api.example.com:443 X-Key", "never"} {
		if !strings.Contains(said.Stdout, want) || strings.Contains(said.Stdout, "hunter") {
			t.Errorf("no %q in: %s%s", want, said.Stdout, said.Stderr)
		}
	}
	if said := atelier("", "secrets", "uses", "KEY", "--agent", "measure"); strings.Count(said.Stdout, "draft") != 1 {
		t.Errorf("%+v", said)
	}
	if said := atelier("", "secrets", "remove", "SENT"); said.Code != 0 {
		t.Errorf("%+v", said)
	}
	if said := atelier("", "quotas", "set", "default", "--runs-per-day", "9"); !strings.Contains(said.Stdout, "9") || said.Code != 0 {
		t.Errorf("%+v", said)
	}
	if said := atelier("", "quotas", "show", "default"); said.Code != 0 || !strings.Contains(said.Stdout, "9") {
		t.Errorf("%+v", said)
	}
	if said := atelier("", "quotas"); said.Code != 0 || !strings.Contains(said.Stdout, "this workspace") || !strings.Contains(said.Stdout, "none") {
		t.Errorf("%+v", said)
	}
}

// The list of uses is longer than one page.
func TestAllUsesOfASecretAreListed(t *testing.T) {
	t.Parallel()
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		run, next := "first", "more"
		if r.FormValue("cursor") == "more" {
			run, next = "second", ""
		}
		if r.URL.Path != "/api/v1/secrets/KEY/uses" || r.FormValue("agent") != "measure" {
			t.Errorf("asked for %s", r.URL)
		}
		fmt.Fprintf(w, `{"items": [{"runId": %q, "version": "1.0.0"}], "nextCursor": %q}`, run, next)
	}))
	t.Cleanup(pages.Close)
	said := servertest.Command(t, "", "secrets", "uses", "KEY", "--agent", "measure", "--server", pages.URL, "--token", "t")
	if said.Code != 0 || !strings.Contains(said.Stdout, "first") || !strings.Contains(said.Stdout, "second") {
		t.Errorf("%+v", said)
	}
}
