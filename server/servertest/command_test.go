package servertest_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

const oslo = `{"city":"Oslo"}`

// A folder and a file run in the sandbox of this machine without a server. Stdout contains only the output.
func TestRunFiles(t *testing.T) {
	t.Parallel()
	root := servertest.Root(t)
	said := servertest.Command(t, "", "run", filepath.Join(root, "samples", "weather-ts"), "--input", oslo)
	if said.Code != 0 || !strings.HasPrefix(said.Stdout, `{"city":"Oslo"`) || strings.Count(said.Stdout, "\n") != 1 {
		t.Errorf("exit %d, stdout %q, stderr %q", said.Code, said.Stdout, said.Stderr)
	}
	if !strings.Contains(said.Stderr, "Forecast for Oslo") || strings.Contains(said.Stderr, "\x1b") {
		t.Errorf("stderr is %q", said.Stderr)
	}
	dir := t.TempDir()
	files := map[string]struct{ text, input, output string }{
		"a.py":    {"def main(n): return n + 1", `{"n":1}`, "2\n"},
		"b.sh":    {"printf '%s' \"$INPUT\"", `{"n":1}`, "{\"n\":1}\n"},
		"c.js":    {"export default ({n}) => n + 1", `{"n":1}`, "2\n"},
		"d.ts":    {"export default ({n}: {n: number}) => n", `{"n":9007199254740993}`, "9007199254740993\n"},
		"fail.py": {"def main(): raise ValueError('boom\\x1b[2J')", `{}`, ""},
	}
	for name, f := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			said := servertest.Command(t, f.input, "run", filepath.Join(dir, name), "--input", "-", "--quiet")
			if name == "fail.py" {
				if said.Code != 1 || said.Stdout != "" || !strings.Contains(said.Stderr, "fail.py:1") || strings.Contains(said.Stderr, "\x1b") {
					t.Errorf("exit %d, stdout %q, stderr %q", said.Code, said.Stdout, said.Stderr)
				}
				return
			}
			if said.Code != 0 || (f.output != "" && said.Stdout != f.output) {
				t.Errorf("exit %d, stdout %q, stderr %q", said.Code, said.Stdout, said.Stderr)
			}
		})
	}
}

func TestMisuse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"no version":     {[]string{"run", "weather"}, 2, "weather@latest"},
		"no such file":   {[]string{"run", "./nothing.py"}, 2, "no file or folder"},
		"bad input":      {[]string{"run", "weather@1.0.0", "--input", "{"}, 2, "not valid JSON"},
		"bad reference":  {[]string{"run", "weather@one"}, 2, "must be 1.2.0"},
		"no command":     {[]string{"frobnicate"}, 2, "frobnicate"},
		"no server":      {[]string{"run", "weather@1.0.0", "--data", filepath.Join(dir, "none")}, 4, "atelier serve"},
		"unknown format": {[]string{"export", "weather", "--format", "soap"}, 2, "format"},
		"no token":       {[]string{"agents", "--server", "http://127.0.0.1:1"}, 2, "--token"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := servertest.Command(t, "", tt.args...)
			if said.Code != tt.code || said.Stdout != "" || !strings.Contains(said.Stderr, tt.want) {
				t.Errorf("exit %d, stdout %q, stderr %q", said.Code, said.Stdout, said.Stderr)
			}
		})
	}
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"run", "--help"}, {"version"}, {}} {
		if said := servertest.Command(t, "", args...); said.Code != 0 || said.Stdout == "" || said.Stderr != "" {
			t.Errorf("%v: exit %d, stdout %.80q, stderr %q", args, said.Code, said.Stdout, said.Stderr)
		}
	}
}

// If a server runs, a reference runs on the server of the data directory. Otherwise it runs on the server's database.
func TestCommandsWithAndWithoutAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := servertest.Spawn(t, data)
	token := servertest.Command(t, "", "token", "create", "tests", "--scope", "admin", "--data", data)
	if token.Code != 0 || !strings.HasPrefix(token.Stdout, "atl_") {
		t.Fatalf("token: %+v", token)
	}
	p.Token = strings.TrimSpace(token.Stdout)
	p.Create(t, string(samples(t, p.Client)["weather-ts"].Agent))
	p.Publish(t, "weather", "1.0.0")
	want := string(p.Execute(t, "weather", "1.0.0", map[string]string{"city": "Oslo"}).Output) + "\n"

	check := func(t *testing.T, where ...string) {
		t.Helper()
		with := func(args ...string) []string { return append(args, where...) }
		if said := servertest.Command(t, "", with("run", "weather@1.0.0", "--input", oslo)...); said.Code != 0 || said.Stdout != want || !strings.Contains(said.Stderr, "Forecast") {
			t.Errorf("run: %+v", said)
		}
		if said := servertest.Command(t, "", with("run", "weather@1.0.0", "--input", `{"city":"Atlantis"}`)...); said.Code != 3 || said.Stdout != "" || !strings.Contains(said.Stderr, "/input/city") {
			t.Errorf("bad input: %+v", said)
		}
		if said := servertest.Command(t, "", with("run", "weather@^9")...); said.Code != 3 || !strings.Contains(said.Stderr, "weather@^9") {
			t.Errorf("unknown version: %+v", said)
		}
		if said := servertest.Command(t, "", with("export", "weather@^1", "--format", "openai")...); said.Code != 0 || !strings.Contains(said.Stdout, `"type": "function"`) {
			t.Errorf("export: %+v", said)
		}
		for _, list := range [][]string{{"agents"}, {"versions", "weather"}, {"runs"}, {"token", "list"}} {
			if said := servertest.Command(t, "", with(list...)...); said.Code != 0 || strings.Count(said.Stdout, "\n") < 2 {
				t.Errorf("%v: %+v", list, said)
			}
		}
	}
	t.Run("server of the data directory", func(t *testing.T) { check(t, "--data", data) })
	t.Run("named server", func(t *testing.T) { check(t, "--server", p.URL, "--token", p.Token) })
	info, err := os.Stat(filepath.Join(data, "cli-token"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("cli-token: %v, %v", info, err)
	}
	p.Signal(t, os.Interrupt)
	if code := p.Exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	t.Run("database", func(t *testing.T) { check(t, "--data", data) })
	if said := servertest.Command(t, "", "migrate", "status", "--data", data); said.Code != 0 || strings.Contains(said.Stdout, "pending") {
		t.Errorf("migrate status: %+v", said)
	}
	if said := servertest.Command(t, "", "migrate", "up", "--data", data); said.Code != 0 || !strings.Contains(said.Stdout, "applied 0") {
		t.Errorf("migrate up: %+v", said)
	}
}

// If a command is interrupted, its run must be cancelled.
func TestInterruptedCommandCancelsItsRun(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	s.Create(t, map[string]any{"name": "endless", "language": "bash", "code": "while :; do sleep 0.1; done"})
	s.Publish(t, "endless", "1.0.0")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan servertest.Said, 1)
	go func() {
		ended <- servertest.CommandIn(t, ctx, "", "run", "endless@1.0.0", "--server", s.URL, "--token", s.Token)
	}()
	var run string
	servertest.Eventually(t, "the run runs", func() bool {
		var list struct{ Items []servertest.Run }
		s.Want(t, 200, "GET", "/api/v1/runs?status=running", nil).Into(t, &list)
		if len(list.Items) == 1 {
			run = list.Items[0].RunID
		}
		return run != ""
	})
	stop()
	said := <-ended
	if said.Code != 1 || !strings.Contains(said.Stderr, "cancelled") {
		t.Errorf("%+v", said)
	}
	if got := s.Wait(t, run); got.Status != "cancelled" || got.Trigger != "cli" {
		t.Errorf("the run ended as %+v", got)
	}
}
