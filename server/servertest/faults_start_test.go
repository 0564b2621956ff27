package servertest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/server/servertest"
)

// Regression: a server ended when its terminal was closed, because it got SIGHUP. Its runs were interrupted.
func TestServe_SIGHUP_KeepsServing(t *testing.T) {
	t.Parallel()
	p := servertest.Spawn(t, t.TempDir())
	p.Signal(t, unix.SIGHUP)
	servertest.Eventually(t, "the server logs the signal", func() bool { return strings.Contains(p.Log.String(), "SIGHUP is ignored") })
	p.Want(t, 200, "GET", "/ready", nil)
	p.Signal(t, unix.SIGTERM)
	if code := p.Exit(); code != 0 {
		t.Errorf("exit %d\n%s", code, p.Log)
	}
}

// At startup, the server makes a key file private that others can read, and removes files of interrupted writes. It refuses to
// start if the database is missing, instead of creating an empty one.
func TestStart_DamagedDataDirectory(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := servertest.Spawn(t, data)
	first.Signal(t, unix.SIGTERM)
	if code := first.Exit(); code != 0 {
		t.Fatalf("exit %d\n%s", code, first.Log)
	}
	key, leftover, draft := filepath.Join(data, "secrets.key"), filepath.Join(data, "blobs", "ab", ".new-1"), filepath.Join(data, "secrets.key.next-1")
	if err := errors.Join(os.Chmod(key, 0o644), os.MkdirAll(filepath.Dir(leftover), 0o700), os.WriteFile(leftover, nil, 0o600), os.WriteFile(draft, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	second := servertest.Spawn(t, data)
	second.Signal(t, unix.SIGTERM)
	if code := second.Exit(); code != 0 {
		t.Fatalf("exit %d\n%s", code, second.Log)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(second.Log.String(), "mode is 600 now") {
		t.Errorf("the key has the mode %v, %v", info.Mode(), err)
	}
	for _, path := range []string{leftover, draft} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the leftover %s is still there: %v", path, err)
		}
	}
	database := filepath.Join(data, "atelier.db")
	gone, err := filepath.Glob(database + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range gone {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	said := servertest.Command(t, "", "serve", "--data", data, "--listen", "127.0.0.1:0")
	if said.Code != 1 || !strings.Contains(said.Stderr, "does not exist") || !strings.Contains(said.Stderr, "secrets.key") {
		t.Errorf("exit %d: %s", said.Code, said.Stderr)
	}
	if _, err := os.Stat(database); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an empty database was created")
	}
}

// After SIGTERM, /ready first answers 503 while other requests are still answered, so that load balancers can react.
func TestServe_SIGTERM_NotReadyBeforeListenersClose(t *testing.T) {
	t.Parallel()
	const token = "a-token-that-is-long-enough-to-be-one"
	p := servertest.Spawn(t, t.TempDir(), "--script-runtime", "--token", token, "--drain-delay", "10m")
	p.Token = token
	p.Want(t, 200, "GET", "/ready", nil)
	p.Signal(t, unix.SIGTERM)
	servertest.Eventually(t, "/ready answers 503", func() bool { return p.Do(t, "GET", "/ready", nil).Status == 503 })
	answer := p.Do(t, "GET", "/ready", nil)
	if got := answer.Problem(t); got.Code != "shutting_down" || !strings.Contains(got.Detail, "draining") || answer.Header.Get("Retry-After") == "" {
		t.Errorf("/ready answers %v %s", answer.Header, answer.Body)
	}
	var health struct{ Status string }
	p.Want(t, 200, "GET", "/health", nil).Into(t, &health)
	if health.Status != "draining" {
		t.Errorf("the status is %q", health.Status)
	}
	p.Want(t, 200, "POST", "/api/v1/execute", servertest.ScriptBody("output 1"))
	p.Signal(t, unix.SIGTERM) // A second signal ends the server at once.
	if code := p.Exit(); code != -1 {
		t.Errorf("exit %d\n%s", code, p.Log)
	}
}

func TestServe_SIGTERM_ListenersCloseAfterDelay(t *testing.T) {
	t.Parallel()
	p := servertest.Spawn(t, t.TempDir(), "--drain-delay", "50ms")
	p.Signal(t, unix.SIGTERM)
	if code := p.Exit(); code != 0 || !strings.Contains(p.Log.String(), "draining") {
		t.Errorf("exit %d\n%s", code, p.Log)
	}
	if answer, err := p.Try(t.Context(), "GET", "/ready", nil); err == nil {
		t.Errorf("it still answers %d", answer.Status)
	}
}
