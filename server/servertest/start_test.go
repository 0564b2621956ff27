package servertest_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/servertest"
)

// If the server cannot start, the error is one sentence that says how to fix the problem.
func TestServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	running := servertest.New(t)
	newer := t.TempDir()
	tests := map[string]struct {
		flags []string
		code  int
		want  []string
	}{
		"data directory in use":      {[]string{"--data", running.Data}, 1, []string{running.Data, "in use by another atelier process", "--data"}},
		"data directory is a file":   {[]string{"--data", file}, 1, []string{file, "is a file", "--data"}},
		"data directory not allowed": {[]string{"--data", "/proc/atelier"}, 1, []string{"/proc/atelier", "--data"}},
		"address in use":             {[]string{"--data", newer, "--listen", taken.Addr().String()}, 1, []string{"already in use", "--listen"}},
		"several wrong values": {[]string{"--listen", "nowhere", "--log-level", "loud", "--token", "short"}, 2,
			[]string{`--listen: "nowhere" must be HOST:PORT`, `--log-level: "loud"`, "--token"}},
		"a base path where our own paths begin": {[]string{"--data", newer, "--listen", "127.0.0.1:0", "--base-path", "/studio"}, 1, []string{"--base-path /studio", "choose another"}},
		"a longer one":                          {[]string{"--data", newer, "--listen", "127.0.0.1:0", "--public-url", "https://example.com/api/tools"}, 1, []string{"--base-path /api/tools", "choose another"}},
		"unknown flag":                          {[]string{"--colour", "red"}, 2, []string{"--colour"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			said := servertest.Command(t, "", append([]string{"serve"}, tt.flags...)...)
			if said.Code != tt.code || said.Stdout != "" {
				t.Errorf("exit %d, stdout %q", said.Code, said.Stdout)
			}
			for _, want := range tt.want {
				if !strings.Contains(said.Stderr, want) {
					t.Errorf("no %q in:\n%s", want, said.Stderr)
				}
			}
		})
	}
}

func TestDataDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "new", "data")
	s := servertest.On(t, data)
	for name, want := range map[string]os.FileMode{data: 0o700, filepath.Join(data, "lock"): 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	s.Stop(t)
	servertest.On(t, data) // The lock of the data directory is free again.
}

// Regression: if the disk was full when a server started, the token of the command line was removed. Now the server
// starts read-only and does not change the token.
func TestCredentialsThatCannotBeWrittenStay(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file, text := filepath.Join(data, "cli-token"), `{"url":"http://127.0.0.1:1","token":"of before"}`
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Symlink("/dev/full", file+".next")); err != nil {
		t.Fatal(err)
	}
	p := servertest.Spawn(t, data)
	p.Signal(t, syscall.SIGTERM)
	p.Exit()
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() { // Reading a file of another kind would never end.
		t.Fatalf("afterwards it is no file any more: %v", err)
	}
	if kept, err := os.ReadFile(file); err != nil || string(kept) != text {
		t.Errorf("afterwards it holds %q, %v", kept, err)
	}
}

func TestServerIsReadyAtOnce(t *testing.T) {
	t.Parallel()
	p := servertest.Spawn(t, t.TempDir())
	began := time.Now()
	for _, path := range []string{"/ready", "/health", "/docs", "/openapi.json", "/schemas/tool-manifest.json", "/schemas/agent.json"} {
		if answer := p.Do(t, "GET", path, nil, servertest.Headers{"Authorization": ""}); answer.Status != 200 {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
	t.Logf("five answers took %v", time.Since(began))
	var health struct {
		Status, Version string
		RegistryLoaded  bool `json:"registry_loaded"`
		ExecutorReady   bool `json:"executor_ready"`
		Sandbox         struct {
			Level   string
			Missing []string
		}
	}
	p.Do(t, "GET", "/health", nil).Into(t, &health)
	if health.Status != "healthy" || !health.RegistryLoaded || !health.ExecutorReady || health.Sandbox.Level == "" || health.Sandbox.Missing == nil {
		t.Errorf("got %+v", health)
	}
}

// Browsers are redirected to the Studio; programs receive a description.
func TestRoot(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for accept, want := range map[string]int{"text/html,application/xhtml+xml,*/*;q=0.8": 302, "": 302, "application/json": 200, "*/*": 200} {
		answer := s.Do(t, "GET", "/", nil, servertest.Headers{"Accept": accept})
		if answer.Status != want {
			t.Errorf("Accept %q: %d", accept, answer.Status)
		}
		if want == 302 && answer.Header.Get("Location") != "/studio/" {
			t.Errorf("leads to %s", answer.Header.Get("Location"))
		}
		if want == 200 && !strings.Contains(string(answer.Body), `"service":"atelier"`) {
			t.Errorf("says %s", answer.Body)
		}
	}
	if page := s.Want(t, 200, "GET", "/studio/agents/weather", nil); !strings.Contains(string(page.Body), "Studio") {
		t.Errorf("got %s", page.Body)
	}
}
