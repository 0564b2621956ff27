package servertest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// shells contains, for each shell, how the shell is made to complete a command line. The last word is at the cursor.
var shells = map[string]string{
	"bash": `source <(atelier completion bash); COMP_WORDS=(atelier "$@"); COMP_CWORD=$#; _atelier; printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh":  `compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- "$@"; }; source <(atelier completion zsh); words=(atelier "$@"); CURRENT=$#words; _atelier`,
	"fish": `atelier completion fish | source; complete -C "atelier "(string join " " -- $argv)`,
}

func TestCompletion_RealShells(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	weather(t, s)
	bin, h := t.TempDir(), home{t.TempDir()}
	if err := os.Symlink(servertest.Binary(t), filepath.Join(bin, "atelier")); err != nil {
		t.Fatal(err)
	}
	h.must(t, nil, s.Token, "profile", "set", "mine", "--server", s.URL, "--token-from", "-", "--use")
	for shell, script := range shells {
		t.Run(shell, func(t *testing.T) { completes(t, shell, script, bin, h) })
	}
	// The command must not wait for a server that does not answer, and must print nothing.
	if said := servertest.CommandWith(t, []string{"ATELIER_SERVER=http://127.0.0.1:1", "ATELIER_TOKEN=x"}, "", "__complete", "publish", ""); said.Code != 0 || said.Stdout+said.Stderr != "" {
		t.Errorf("%+v", said)
	}
}

// completes returns the words that a real shell offers for a command line.
func completes(t *testing.T, shell, script, bin string, h home) {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("%s is not on this machine", shell)
	}
	for _, tt := range []struct {
		typed []string
		want  string // a word that the shell must offer
		not   string
	}{
		{[]string{"tok"}, "token", "run"},
		{[]string{"token", "cr"}, "create", "list"},
		{[]string{"token", "create", "ci", "--sc"}, "--scope", "--name"},
		{[]string{"export", "weather", "--format", "op"}, "openai", "gemini"},
		{[]string{"agents", "--profile", "m"}, "mine", "weather"},
		{[]string{"publish", "wea"}, "weather", "mine"},
		{[]string{"completion", "z"}, "zsh", "bash"},
	} {
		flags := []string{"-c", script}
		if shell != "fish" {
			flags = append(flags, shell)
		}
		cmd := exec.CommandContext(t.Context(), path, append(flags, tt.typed...)...)
		cmd.Dir, cmd.Env = h.dir, []string{"HOME=" + h.dir, "PATH=" + bin + ":" + os.Getenv("PATH")}
		text, err := cmd.CombinedOutput()
		var offers []string
		for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
			offer, _, _ := strings.Cut(line, "\t")
			offers = append(offers, offer)
		}
		if err != nil || !slices.Contains(offers, tt.want) || slices.Contains(offers, tt.not) {
			t.Errorf("%s: atelier %v: %v, %q", shell, tt.typed, err, text)
		}
	}
}

// Every command must have a man page that a formatter accepts without a warning.
func TestMan_EveryCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if said := servertest.Command(t, "", "man", dir); said.Code != 0 {
		t.Fatalf("%+v", said)
	}
	pages := []string{"atelier.1"}
	for _, c := range grammar(t) {
		pages = append(pages, "atelier-"+strings.ReplaceAll(c.Command, " ", "-")+".1")
	}
	for _, page := range pages {
		path := filepath.Join(dir, page)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), ".SH DESCRIPTION") {
			t.Errorf("%s: %v", page, err)
		}
	}
	t.Run("formatted", func(t *testing.T) {
		groff, err := exec.LookPath("groff")
		if err != nil {
			t.Skip("groff is not on this machine")
		}
		for _, page := range pages {
			if warnings, err := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", filepath.Join(dir, page)).CombinedOutput(); err != nil || len(warnings) > 0 {
				t.Errorf("%s: %v %s", page, err, warnings)
			}
		}
	})
	if said := servertest.Command(t, "", "man"); said.Code != 0 || !strings.HasPrefix(said.Stdout, ".TH ATELIER 1\n") || !strings.Contains(said.Stdout, `token create`) {
		t.Errorf("%+v", said)
	}
}
