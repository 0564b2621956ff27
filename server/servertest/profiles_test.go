package servertest_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

// thief is a server that records what it receives.
type thief struct {
	URL string

	mu       sync.Mutex
	received []string
}

func newThief(t *testing.T) *thief {
	t.Helper()
	stolen := &thief{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen.mu.Lock()
		defer stolen.mu.Unlock()
		stolen.received = append(stolen.received, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	stolen.URL = server.URL
	return stolen
}

func (s *thief) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.received, "|")
}

// home is the home directory of a user. Commands run with it.
type home struct{ dir string }

func (h home) run(t *testing.T, env []string, stdin string, args ...string) servertest.Said {
	t.Helper()
	return servertest.CommandWith(t, append([]string{"HOME=" + h.dir}, env...), stdin, args...)
}

func (h home) must(t *testing.T, env []string, stdin string, args ...string) string {
	t.Helper()
	said := h.run(t, env, stdin, args...)
	if said.Code != 0 {
		t.Fatalf("atelier %v: %+v", args, said)
	}
	return said.Stdout
}

// A flag overrides a variable, a variable overrides agent.yaml, agent.yaml overrides the current profile.
func TestProfiles_Precedence(t *testing.T) {
	t.Parallel()
	names := []string{"byflag", "byvariable", "byfolder", "byprofile"}
	servers := map[string]*servertest.Server{}
	h := home{t.TempDir()}
	dir := filepath.Join(t.TempDir(), "greet")
	for _, name := range names {
		s := servertest.New(t)
		s.Create(t, map[string]any{"name": "greet", "title": name, "language": "bash", "code": "echo 1"})
		servers[name] = s
		h.must(t, nil, s.Token+"\n", "profile", "set", name, "--server", s.URL+"/", "--token-from", "-")
	}
	h.must(t, nil, "", "profile", "use", "byprofile")
	pulled := func(env []string, folder string, flags ...string) string {
		t.Helper()
		at := filepath.Join(t.TempDir(), "greet")
		if folder != "" {
			h.must(t, nil, "", "init", at, "--server", folder)
		}
		h.must(t, env, "", append([]string{"pull", "greet", at, "--yes"}, flags...)...)
		text, err := os.ReadFile(filepath.Join(at, "agent.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if folder != "" && !strings.Contains(string(text), "\nserver: "+folder+"\n") {
			t.Errorf("pull removed the server: %s", text)
		}
		for _, name := range names {
			if strings.Contains(string(text), "title: "+name+"\n") {
				return name
			}
		}
		return string(text)
	}
	variable := []string{"ATELIER_SERVER=" + servers["byvariable"].URL, "ATELIER_TOKEN=" + servers["byvariable"].Token}
	folder := strings.ToUpper(servers["byfolder"].URL[:4]) + servers["byfolder"].URL[4:] + "/" // This address is another spelling of the same server.
	for want, got := range map[string]string{
		"byflag":     pulled(variable, folder, "--profile", "byflag"),
		"byvariable": pulled(variable, folder),
		"byfolder":   pulled([]string{"ATELIER_TOKEN=for-another-server"}, servers["byfolder"].URL),
		"byprofile":  pulled([]string{"ATELIER_TOKEN=for-another-server"}, ""),
	} {
		if got != want {
			t.Errorf("%s is used instead of %s", got, want)
		}
	}
	if got := pulled([]string{"ATELIER_PROFILE=byvariable"}, folder); got != "byvariable" {
		t.Errorf("ATELIER_PROFILE: %s", got)
	}
	if got := pulled(variable, folder, "--server", servers["byflag"].URL, "--token", servers["byflag"].Token); got != "byflag" {
		t.Errorf("--server: %s", got)
	}
	if said := h.run(t, nil, "", "agents", "--profile", "byflag", "--server", "http://127.0.0.1:1"); said.Code != 2 || !strings.Contains(said.Stderr, "--profile cannot be combined") {
		t.Errorf("%+v", said)
	}
	// A push works on the same folder, and must store the server in no other place.
	h.must(t, nil, "", "init", dir, "--server", servers["byfolder"].URL)
	h.must(t, nil, "", "push", dir, "--yes", "--force")
	if got := servers["byfolder"].Want(t, 200, "GET", "/api/v1/code-agents/greet", nil); strings.Contains(string(got.Body), `"server"`) || !strings.Contains(string(got.Body), "Hello, ") {
		t.Errorf("pushed %s", got.Body)
	}
}

// The folder of another person must not make a command send a token or a program to that person's server, whatever the
// folder contains.
func TestProfiles_HostileFolder_ReceivesNothing(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	stolen := newThief(t)
	h := home{t.TempDir()}
	h.must(t, nil, s.Token, "profile", "set", "mine", "--server", s.URL, "--token-from", "-", "--use")
	host := strings.TrimPrefix(stolen.URL, "http://")
	secrets := []string{"ATELIER_TOKEN=atl_environment"}
	for name, address := range map[string]string{
		"another server":   stolen.URL,
		"user in address":  strings.Replace(s.URL, "http://", "http://x@", 1),
		"our host as user": s.URL + "@" + host,
		"our name in path": stolen.URL + "/" + strings.TrimPrefix(s.URL, "http://"),
		"query":            s.URL + "?x=1",
		"fragment":         stolen.URL + "#" + s.URL,
		"backslash":        s.URL + `\@` + host,
		"path of ours":     s.URL + "/elsewhere",
	} {
		dir := filepath.Join(t.TempDir(), "greet")
		h.must(t, nil, "", "init", dir)
		settings, err := os.ReadFile(filepath.Join(dir, "agent.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "agent.yaml"), "server: '"+address+"'\n"+string(settings))
		for _, args := range [][]string{{"push", dir, "--yes"}, {"push", dir, "--yes", "--token", "atl_flag"}, {"pull", "greet", dir, "--yes"}} {
			if said := h.run(t, secrets, "", args...); said.Code != 2 || !strings.Contains(said.Stderr, "none of your profiles names") {
				t.Errorf("%s: atelier %v: %+v", name, args, said)
			}
		}
	}
	// The folder may contain a data directory that names a server. The command may use this server only if it is on this
	// machine. It then gets only the token from that directory.
	dir := filepath.Join(t.TempDir(), "greet")
	h.must(t, nil, "", "init", dir)
	settings, err := os.ReadFile(filepath.Join(dir, "agent.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "agent.yaml"), "server: "+stolen.URL+"\n"+string(settings))
	data := t.TempDir()
	write(t, filepath.Join(data, "cli-token"), `{"url":"`+stolen.URL+`","token":"planted"}`)
	variables := append([]string{"ATELIER_DATA=" + data}, secrets...)
	if said := h.run(t, variables, "", "push", dir, "--yes", "--token", "atl_flag"); said.Code != 2 {
		t.Errorf("a flag for a server that no profile has: %+v", said)
	}
	if got := stolen.all(); got != "" {
		t.Fatalf("the hostile server received %q", got)
	}
	h.run(t, variables, "", "push", dir, "--yes")
	if got := strings.ReplaceAll(stolen.all(), "Bearer planted", ""); strings.Trim(got, "|") != "" {
		t.Errorf("the hostile server received %q", got)
	}
	write(t, filepath.Join(data, "cli-token"), `{"url":"http://atelier.example.com","token":"planted"}`)
	other := home{t.TempDir()}
	if said := other.run(t, variables, "hunter2", "secrets", "set", "KEY"); said.Code == 0 || strings.Contains(said.Stderr, "example.com") {
		t.Errorf("a data directory that names another machine: %+v", said)
	}
}

// Profiles must keep tokens private, and must not send a token to another server.
func TestProfileCommand(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	h := home{t.TempDir()}
	file := filepath.Join(h.dir, ".config", "atelier", "profiles.yaml")
	for name, tt := range map[string]struct {
		args  []string
		stdin string
		want  string
	}{
		"no server":          {[]string{"profile", "set", "new"}, "", "requires --server"},
		"no address":         {[]string{"profile", "set", "new", "--server", "example.com"}, "", "--server"},
		"a user":             {[]string{"profile", "set", "new", "--server", "https://a:b@example.com"}, "", "--server"},
		"a literal token":    {[]string{"profile", "set", "new", "--server", s.URL, "--token-from", "atl_x"}, "", "--token-from"},
		"no token on stdin":  {[]string{"profile", "set", "new", "--server", s.URL, "--token-from", "-"}, "\n", "one token"},
		"two lines on stdin": {[]string{"profile", "set", "new", "--server", s.URL, "--token-from", "-"}, "a\nb\n", "one token"},
		"a bad name":         {[]string{"profile", "set", "../x", "--server", s.URL}, "", "name of a profile"},
		"use of none":        {[]string{"profile", "use", "absent"}, "", "absent"},
		"removal of none":    {[]string{"profile", "remove", "absent"}, "", "absent"},
		"a missing profile":  {[]string{"agents", "--profile", "absent"}, "", "absent"},
	} {
		if said := h.run(t, nil, tt.stdin, tt.args...); said.Code != 2 || !strings.Contains(said.Stderr, tt.want) {
			t.Errorf("%s: %+v", name, said)
		}
	}
	h.must(t, nil, s.Token, "profile", "set", "mine", "--server", s.URL, "--token-from", "-", "--workspace", "default", "--use")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	if list := h.must(t, nil, "", "profile", "list"); !strings.Contains(list, "mine") || strings.Contains(list, s.Token) || strings.Contains(h.must(t, nil, "", "profile", "--json"), s.Token) {
		t.Errorf("list: %s", list)
	}
	h.must(t, nil, "", "agents")
	if said := h.run(t, nil, "", "agents", "--workspace", "elsewhere"); said.Code != 4 && said.Code != 3 {
		t.Errorf("another workspace: %+v", said)
	}
	tokenFile := filepath.Join(t.TempDir(), "token")
	write(t, tokenFile, s.Token+"\n")
	h.must(t, nil, "", "profile", "set", "mine", "--token-from", "file:"+tokenFile)
	h.must(t, nil, "", "agents")
	h.must(t, nil, "", "profile", "set", "mine", "--token-from", "env:MY_TOKEN")
	h.must(t, []string{"MY_TOKEN=" + s.Token}, "", "agents")
	if said := h.run(t, nil, "", "agents"); said.Code != 2 || !strings.Contains(said.Stderr, "MY_TOKEN") {
		t.Errorf("an unset variable: %+v", said)
	}
	// An invalid agent.yaml still names its server, so that pull can repair the file. Sending a token to this server
	// requires an explicit --server.
	s.Create(t, map[string]any{"name": "greet", "language": "bash", "code": "echo 1"})
	dir := t.TempDir()
	broken := filepath.Join(dir, "agent.yaml")
	write(t, broken, "server: "+s.URL+"\nunknown: 1\n")
	if said := h.run(t, nil, "", "pull", "greet", dir, "--yes", "--token", s.Token); said.Code != 2 || !strings.Contains(said.Stderr, "--token requires --server") {
		t.Errorf("a token for the server of a folder: %+v", said)
	}
	h.must(t, []string{"MY_TOKEN=" + s.Token}, "", "pull", "greet", dir, "--yes")
	if text, err := os.ReadFile(broken); err != nil || strings.Contains(string(text), "unknown") || !strings.Contains(string(text), "\nserver: "+s.URL+"\n") {
		t.Errorf("pulled %s, %v", text, err)
	}
	// If the server of a profile changes, the profile's token is removed, so that the new server does not get it.
	h.must(t, nil, s.Token, "profile", "set", "mine", "--token-from", "-")
	stolen := newThief(t)
	h.must(t, nil, "", "profile", "set", "mine", "--server", stolen.URL)
	if said := h.run(t, nil, "", "agents"); said.Code != 2 || !strings.Contains(said.Stderr, "has no token") || stolen.all() != "" {
		t.Errorf("%+v, %q", said, stolen.all())
	}
	if said := h.run(t, []string{"ATELIER_TOKEN=atl_other"}, "", "agents"); said.Code != 2 || !strings.Contains(said.Stderr, "has no token") || stolen.all() != "" {
		t.Errorf("a token of the environment: %+v, %q", said, stolen.all())
	}
	h.run(t, []string{"ATELIER_TOKEN=atl_other", "ATELIER_SERVER=" + stolen.URL + "/"}, "", "agents", "--profile", "mine")
	if stolen.all() != "Bearer atl_other" {
		t.Errorf("a token of the environment for this server: %q", stolen.all())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(text)+strings.Repeat("#", 1<<20))
	if said := h.run(t, nil, "", "profile", "list"); said.Code != 2 || !strings.Contains(said.Stderr, "at most 1048576 bytes") {
		t.Errorf("a large file: %+v", said)
	}
	if said := h.run(t, nil, "", "agents", "--data", filepath.Join(t.TempDir(), "absent")); strings.Contains(said.Stderr, "profiles") {
		t.Errorf("--data reads the profiles: %+v", said)
	}
	write(t, file, string(text))
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if said := h.run(t, nil, "", "profile", "list"); said.Code != 2 || !strings.Contains(said.Stderr, "chmod 600") {
		t.Errorf("a file that others may read: %+v", said)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	h.must(t, nil, "", "profile", "remove", "mine")
	if list := h.must(t, nil, "", "profile", "list", "--json"); list != "[]\n" {
		t.Errorf("list: %q", list)
	}
}

// A redirect must not send the token to another address, for normal requests and for MCP.
func TestCommands_Redirect_TokenIsNotSent(t *testing.T) {
	t.Parallel()
	stolen := newThief(t)
	redirecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, stolen.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(redirecting.Close)
	h := home{t.TempDir()}
	for _, command := range []string{"agents", "mcp"} {
		said := h.run(t, nil, "", command, "--server", redirecting.URL, "--token", "atl_mine")
		if said.Code == 0 || !strings.Contains(said.Stderr, redirecting.URL+" redirects") || !strings.Contains(said.Stderr, "final address") {
			t.Errorf("%s: %+v", command, said)
		}
	}
	if got := stolen.all(); got != "" {
		t.Errorf("the other server received %s", got)
	}
}
