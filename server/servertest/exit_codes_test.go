package servertest_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// All commands use the same exit code for the same kind of failure.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "fails.py"), "def main(): raise ValueError('boom')\n")
	foreign := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(foreign.Close)
	there := []string{"--server", s.URL, "--token", s.Token}
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"success":            {append([]string{"agents"}, there...), 0, ""},
		"program failed":     {[]string{"run", filepath.Join(dir, "fails.py")}, 1, "boom"},
		"wrong usage":        {[]string{"agents", "--nothing"}, 2, "--nothing"},
		"refused":            {append([]string{"versions", "nobody"}, there...), 3, "nobody"},
		"unreachable":        {[]string{"agents", "--server", "http://127.0.0.1:1", "--token", "x"}, 4, "127.0.0.1:1"},
		"unauthorised":       {[]string{"agents", "--server", s.URL, "--token", "atl_wrong"}, 4, "token"},
		"another program":    {[]string{"agents", "--server", foreign.URL, "--token", "x"}, 4, "check its address"},
		"no server":          {[]string{"agents", "--data", filepath.Join(dir, "none")}, 4, "atelier serve"},
		"help of no command": {[]string{"help", "frobnicate"}, 2, "frobnicate"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := servertest.Command(t, "", tt.args...)
			if said.Code != tt.code || !strings.Contains(said.Stderr, tt.want) {
				t.Errorf("exit %d, stdout %q, stderr %q", said.Code, said.Stdout, said.Stderr)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	whole := servertest.Command(t, "", "help")
	for _, text := range []string{"2 wrong usage", "ATELIER_SERVER", "init", "--help"} {
		if whole.Code != 0 || !strings.Contains(whole.Stdout, text) {
			t.Errorf("help lacks %q: %+v", text, whole)
		}
	}
	if one, same := servertest.Command(t, "", "help", "token", "create"), servertest.Command(t, "", "token", "create", "--help"); one.Code != 0 || one != same || !strings.Contains(one.Stdout, "--scope") {
		t.Errorf("help token create: %+v", one)
	}
	if flag, verb := servertest.Command(t, "", "--version"), servertest.Command(t, "", "version"); flag.Code != 0 || flag != verb || !strings.HasPrefix(flag.Stdout, "atelier ") {
		t.Errorf("%+v, %+v", flag, verb)
	}
}

// A folder that `atelier init` has created can be run and pushed unchanged in every language. The command never
// overwrites files.
func TestInit(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for language, file := range map[string]string{"typescript": "main.ts", "javascript": "main.js", "python": "main.py", "bash": "main.sh"} {
		dir := filepath.Join(t.TempDir(), "greet-"+language)
		if said := servertest.Command(t, "", "init", dir, "--language", language); said.Code != 0 || said.Stdout != "" {
			t.Fatalf("%+v", said)
		}
		if said := servertest.Command(t, "", "run", dir, "--input", "@"+filepath.Join(dir, "input.json")); said.Code != 0 || said.Stdout != "{\"greeting\":\"Hello, Ada\"}\n" {
			t.Errorf("%s: %+v", language, said)
		}
		must(t, s, "push", dir, "--yes")
		write(t, filepath.Join(dir, file), "mine")
		if said := servertest.Command(t, "", "init", dir, "--language", language); said.Code != 3 || !strings.Contains(said.Stderr, "not empty") {
			t.Errorf("%s: %+v", language, said)
		}
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(text) != "mine" {
			t.Errorf("%s: overwritten: %q %v", language, text, err)
		}
	}
	if said := servertest.Command(t, "", "init", filepath.Join(t.TempDir(), "Not A Name")); said.Code != 2 || !strings.Contains(said.Stderr, "--name") {
		t.Errorf("%+v", said)
	}
}

func TestArchive_StdinAndStdout(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	archive := must(t, s, "archive", "export", "-")
	if !strings.HasPrefix(archive, "\x1f\x8b") {
		t.Fatalf("exported %.20q", archive)
	}
	other := servertest.New(t)
	if code, stdout, stderr := command(t, other, archive, "archive", "import", "-"); code != 0 || !strings.Contains(stdout, "weather") {
		t.Errorf("exit %d, %q, %q", code, stdout, stderr)
	}
}

// ATELIER_SERVER has the same effect as --server, and a flag overrides it.
func TestServerVariable(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	env := []string{"ATELIER_SERVER=" + s.URL, "ATELIER_TOKEN=" + s.Token}
	if said := servertest.CommandWith(t, env, "", "agents"); said.Code != 0 || !strings.Contains(said.Stdout, "weather") {
		t.Errorf("%+v", said)
	}
	if said := servertest.CommandWith(t, env, "", "agents", "--server", "http://127.0.0.1:1"); said.Code != 4 {
		t.Errorf("the flag does not override the variable: %+v", said)
	}
	if said := servertest.CommandWith(t, env, "", "agents", "--data", filepath.Join(t.TempDir(), "none")); said.Code != 4 || !strings.Contains(said.Stderr, "no data directory") {
		t.Errorf("--data does not override the variable: %+v", said)
	}
}

// The error of a refused request names the flags and arguments that a person types, and not the JSON fields of the
// request.
func TestRefusals_NameFlags(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	for args, want := range map[string]string{
		"publish weather --if-changed --force":        "--comment is required with --force",
		"publish weather --accept-regressions":        "--comment is required with --accept-regressions",
		"publish weather 1.0.1":                       "With --if-changed this is not an error",
		"publish weather one":                         "<version> ",
		"publish weather 1.0.1 --replay 1000":         "--replay must be",
		"token create ci --scope read,everything":     "--scope number 2 must be one of",
		"invite create king":                          "<role> must be one of",
		"quotas set default --runs-per-day=-1":        "--runs-per-day must be",
		"gate set --gate maybe":                       "--gate must be one of",
		"agents --state gone":                         "--state: ",
		"registry search --language cobol":            "--language: ",
		"packages gc --unused 1s":                     "--unused must be",
		"replay weather --runs 1000":                  "--runs must be",
		"history list weather --limit=-1":             "--limit: ",
		"pins put flow weather@1.0.0 weather@9":       "<references> number 2 ",
		"deprecate weather@1.0.0 --successor absent@": "--successor must be",
	} {
		code, stdout, stderr := command(t, s, "", strings.Fields(args)...)
		if code != 3 || stdout != "" || !strings.Contains(stderr, want) || strings.Contains(stderr, `": true`) || strings.Contains(stderr, "query parameter") {
			t.Errorf("atelier %s: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
