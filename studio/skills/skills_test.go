package skills_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/agents/agentstest"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/skills"
)

const (
	settings = "name: NAME\nversion: 1.0.0\ndescription: Gives back what it gets.\nhandler: handler.echo\ntags: [text]\n"
	schemas  = `{"input": {"type": "object"}, "output": {"type": "object"}}`
	handler  = "def echo(value):\n    return {'value': value}\n"
)

// looks replaces the Python parser. The tests check how its results are used, and count the calls.
type looks struct{ jobs, programs atomic.Int64 }

// Check is called before a version is published.
func (l *looks) Check(_ context.Context, r inspect.Request) (inspect.Report, error) {
	if strings.Contains(string(r.Files["handler.py"]), "# draft only") {
		return inspect.Report{Errors: []fault.Detail{{File: r.Entrypoint, Line: 1, Message: "is no version."}}}, nil
	}
	return l.look(r)
}

func (l *looks) look(r inspect.Request) (inspect.Report, error) {
	if strings.Contains(string(r.Files[r.Entrypoint]), "def echo(:") {
		return inspect.Report{Errors: []fault.Detail{{File: r.Entrypoint, Line: 1, Code: "syntax_error", Message: "SyntaxError."}}}, nil
	}
	report := inspect.Report{Warnings: []fault.Detail{{File: r.Entrypoint, Line: 1, Message: "a warning"}}}
	for _, name := range []string{"echo", "run", "main"} {
		if strings.Contains(string(r.Files[r.Entrypoint]), "def "+name+"(") {
			report.Names = append(report.Names, name)
		}
	}
	return report, nil
}

// Format is not used for skills.
func (l *looks) Format(context.Context, string, int) (string, []fault.Detail, error) {
	return "", nil, nil
}

func (l *looks) CheckAll(_ context.Context, programs []inspect.Request) []inspect.Result {
	if len(programs) > 0 {
		l.jobs.Add(1)
		l.programs.Add(int64(len(programs)))
	}
	results := make([]inspect.Result, len(programs))
	for n, p := range programs {
		results[n].Report, results[n].Err = l.look(p)
	}
	return results
}

// asked is a store that counts queries. It counts queries for lists only if the context has counted, because the
// service writes its report at any time.
type asked struct {
	*store.Store
	lists, skills, versions atomic.Int64
}

type counted struct{}

func (a *asked) listed(ctx context.Context) {
	if ctx.Value(counted{}) != nil {
		a.lists.Add(1)
	}
}

func (a *asked) Skills(ctx context.Context, workspace string) ([]registry.Skill, error) {
	a.listed(ctx)
	return a.Store.Skills(ctx, workspace)
}

func (a *asked) LatestOfSkills(ctx context.Context, workspace string) (map[string]registry.Version, error) {
	a.listed(ctx)
	return a.Store.LatestOfSkills(ctx, workspace)
}

func (a *asked) Skill(ctx context.Context, workspace, name string) (registry.Skill, error) {
	a.skills.Add(1)
	return a.Store.Skill(ctx, workspace, name)
}

func (a *asked) Agent(ctx context.Context, workspace, name string) (registry.Agent, error) {
	a.versions.Add(1)
	return a.Store.Agent(ctx, workspace, name)
}

func (a *asked) Candidates(ctx context.Context, workspace string, refs []registry.Reference) ([]registry.Candidates, error) {
	a.versions.Add(1)
	return a.Store.Candidates(ctx, workspace, refs)
}

func (a *asked) forget() { a.lists.Store(0); a.skills.Store(0); a.versions.Store(0) }

// world combines a service with a real store and a real directory.
type world struct {
	*skills.Service
	store  *asked
	looks  *looks
	agents *agents.Service
	dir    string
	end    func() // ends the service, so that another service can use its store and directory
}

type fetched func(address string) ([]byte, error)

func (f fetched) Fetch(_ context.Context, address string) ([]byte, error) { return f(address) }

func newStore(t *testing.T) *asked { return &asked{Store: storetest.Open(t, storetest.SQLite)} }

// begin starts a service with a store and a directory, like a server.
func begin(t *testing.T, s *asked, dir string, fetch fetched) world {
	t.Helper()
	w := world{store: s, looks: &looks{}, dir: dir, agents: agents.New(agentstest.Options(s))}
	w.agents.Inspector = w.looks
	var err error
	w.Service, err = skills.New(skills.Options{Store: s, Agents: w.agents, Fetcher: fetch, Dir: dir, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Watch(ctx) }()
	w.end = sync.OnceFunc(func() {
		stop()
		<-ended
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.end)
	if _, err := w.List(t.Context(), me()); err != nil {
		t.Fatal(err)
	}
	return w
}

func me() registry.Actor { return access.Administrator() }

func folder(t *testing.T, dir, name string, more ...string) {
	t.Helper()
	files := map[string]string{"skill.yaml": strings.Replace(settings, "NAME", filepath.Base(name), 1), "schema.json": schemas, "handler.py": handler}
	for i := 0; i+1 < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func files(name string) map[string]registry.File {
	return map[string]registry.File{"skill.yaml": registry.File(strings.Replace(settings, "NAME", name, 1)), "schema.json": registry.File(schemas), "handler.py": registry.File(handler)}
}

func creation(name string) skills.Creation {
	return skills.Creation{Seen: registry.AnyRevision(), Name: name, Description: "Adds numbers up.", Code: "def run(action, args):\n    return 1\n"}
}

func expect(t *testing.T, err error, code fault.Code, text string) {
	t.Helper()
	var all strings.Builder
	if f, ok := err.(*fault.Error); ok {
		for _, d := range f.Details {
			fmt.Fprintf(&all, " %s:%d %s", d.File, d.Line, d.Message)
		}
	}
	if !fault.Is(err, code) || !strings.Contains(err.Error()+all.String(), text) {
		t.Errorf("got %v%s, want %s with %q", err, all.String(), code, text)
	}
}

// At the start, intake must neither look up nor inspect unchanged folders. It must inspect all other folders together.
func TestAStartAsksLittle(t *testing.T) {
	t.Parallel()
	const many = 40
	s, dir := newStore(t), t.TempDir()
	for n := range many {
		folder(t, dir, fmt.Sprintf("s%02d", n))
	}
	folder(t, dir, "broken", "handler.py", "def echo(:\n")
	first := begin(t, s, dir, nil)
	if jobs, programs := first.looks.jobs.Load(), first.looks.programs.Load(); jobs > 2 || programs != many+1 {
		t.Errorf("the first start inspects %d programs in %d jobs", programs, jobs)
	}
	s.forget()
	list, err := first.List(context.WithValue(t.Context(), counted{}, true), me())
	if err != nil || len(list) != many+1 || s.lists.Load() != 2 || s.skills.Load()+s.versions.Load() != 0 {
		t.Errorf("a list of %d asks %d and %d and %d questions, %v", len(list), s.lists.Load(), s.skills.Load(), s.versions.Load(), err)
	}
	if e := list[0]; e.Name != "s00" || e.Version == nil || e.Version.Version != "1.0.0" || e.Description == "" || len(e.Tags) != 1 || e.Problem != nil || e.Missing {
		t.Errorf("the first is %+v", e)
	}
	if e := list[many]; e.Name != "broken" || e.Problem == nil || e.Problem.Details[0].File != "broken/handler.py" {
		t.Errorf("the broken one is %+v", e)
	}
	first.end()
	folder(t, dir, "s01", "handler.py", handler+"# other\n")
	folder(t, dir, "s02", "handler.py", handler+"# next\n", "skill.yaml", strings.NewReplacer("NAME", "s02", "1.0.0", "1.0.1").Replace(settings))
	s.forget()
	second := begin(t, s, dir, nil)
	if programs := second.looks.programs.Load(); programs != 3 {
		t.Errorf("the second start inspects %d programs", programs)
	}
	if n := s.skills.Load(); n > 3*3 {
		t.Errorf("the second start looks up %d skills", n)
	}
	for name, want := range map[string]string{"s01": "1.0.0", "s02": "1.0.1"} {
		if e, err := second.Find(t.Context(), me(), name); err != nil || e.Version.Version != want || (e.Problem != nil) != (name == "s01") {
			t.Errorf("%s is %+v, %v", name, e, err)
		}
	}
}

// An uninstalled skill is not listed, even if its folder is invalid. A skill with two problems is listed once.
func TestAListNamesEachOnce(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t), t.TempDir()
	folder(t, dir, "gone")
	first := begin(t, s, dir, nil)
	if err := first.Uninstall(t.Context(), me(), "gone", false); err != nil {
		t.Fatal(err)
	}
	first.end()
	for _, broken := range []string{"gone", "twice", "_drafts/twice"} {
		folder(t, dir, broken, "skill.yaml", "name: [\n")
	}
	entries, err := begin(t, s, dir, nil).List(t.Context(), me())
	if err != nil || len(entries) != 1 || entries[0].Name != "twice" || entries[0].Problem.Folder != "twice" {
		t.Errorf("the list is %+v, %v", entries, err)
	}
}

// Saving a draft must not restore the old versions of an uninstalled skill.
func TestUninstalledSkillsGetNoDrafts(t *testing.T) {
	t.Parallel()
	w := begin(t, newStore(t), t.TempDir(), nil)
	if _, err := w.Install(t.Context(), me(), skills.Source{Files: files("adder")}); err != nil {
		t.Fatal(err)
	}
	if err := w.Uninstall(t.Context(), me(), "adder", false); err != nil {
		t.Fatal(err)
	}
	_, err := w.Create(t.Context(), me(), creation("adder"))
	expect(t, err, fault.Conflict, "Install it by name first")
	_, err = w.Find(t.Context(), me(), "adder")
	expect(t, err, fault.NotFound, "Skill not found: adder")
	if _, err := w.Install(t.Context(), me(), skills.Source{Name: "adder"}); err != nil {
		t.Fatal(err)
	}
	created, err := w.Create(t.Context(), me(), creation("adder"))
	if err != nil || skills.State(created.Entry) != "active_with_draft" || created.Entry.Version.Version != "1.0.0" {
		t.Errorf("after that it is %+v, %v", created.Entry, err)
	}
}

// Uninstalling a referenced skill fails with an error that lists the references, unless it is forced.
func TestUninstallingWhatIsReferenced(t *testing.T) {
	t.Parallel()
	w := begin(t, newStore(t), t.TempDir(), nil)
	if _, err := w.Install(t.Context(), me(), skills.Source{Files: files("echo")}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.agents.Pins.Put(t.Context(), me(), pins.Request{Owner: "flow/1", Label: "Morning", References: []string{"echo@1.0.0"}}); err != nil {
		t.Fatal(err)
	}
	expect(t, w.Uninstall(t.Context(), me(), "echo", false), fault.Conflict, "Morning")
	if err := w.Uninstall(t.Context(), me(), "echo", true); err != nil {
		t.Fatal(err)
	}
	expect(t, w.Uninstall(t.Context(), me(), "echo", true), fault.NotFound, "echo")
	again, err := w.Install(t.Context(), me(), skills.Source{Name: "echo"})
	if err != nil || again.Version.Version != "1.0.0" {
		t.Errorf("brought back it is %+v, %v", again, err)
	}
}

// The query of an address is not stored, because it may contain a signature or a token.
func TestAddressesAreKeptWithoutTheirQuery(t *testing.T) {
	t.Parallel()
	archive := packed(t, files("echo"))
	var asked string
	w := begin(t, newStore(t), t.TempDir(), func(address string) ([]byte, error) { asked = address; return archive, nil })
	address := "https://skills.example.com/a%2Fb/echo.tar.gz?X-Signature=s3cret#part"
	e, err := w.Install(t.Context(), me(), skills.Source{URL: address})
	if err != nil || asked != address || e.Source != "https://skills.example.com/a%2Fb/echo.tar.gz" || e.Origin != registry.URLSkill {
		t.Errorf("asked for %s, kept as %s %s, %v", asked, e.Origin, e.Source, err)
	}
	report, err := os.ReadFile(filepath.Join(w.dir, "installed.json"))
	if err != nil || strings.Contains(string(report), "s3cret") {
		t.Errorf("the report says %s, %v", report, err)
	}
}

// Every method that changes skills rejects anonymous callers.
func TestAnonymousCallersChangeNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, newStore(t), t.TempDir(), nil)
	nobody := registry.Actor{ID: "anonymous", Type: registry.AnonymousActor, Workspace: registry.DefaultWorkspace}
	for verb, err := range map[string]error{
		"install":   second(w.Install(t.Context(), nobody, skills.Source{Files: files("echo")})),
		"uninstall": w.Uninstall(t.Context(), nobody, "echo", true),
		"create":    second(w.Create(t.Context(), nobody, creation("echo"))),
		"promote":   second(w.Promote(t.Context(), nobody, skills.Promotion{Seen: registry.AnyRevision(), Name: "echo"})),
		"register":  second(w.Register(t.Context(), nobody, folderSettings("echo"), []byte(`{}`), []byte(`{}`), files("echo"))),
	} {
		expect(t, err, fault.Forbidden, "not "+verb+" them")
	}
	if list, err := w.List(t.Context(), me()); err != nil || len(list) != 0 {
		t.Errorf("there is %+v, %v", list, err)
	}
}

func second[T any](_ T, err error) error { return err }

// Promoting publishes the draft, with the number that its changes require.
func TestPromotion(t *testing.T) {
	t.Parallel()
	w := begin(t, newStore(t), t.TempDir(), nil)
	_, err := w.Promote(t.Context(), me(), skills.Promotion{Seen: registry.AnyRevision(), Name: "adder"})
	expect(t, err, fault.NotFound, "Skill not found: adder")
	draft, err := w.Create(t.Context(), me(), creation("adder"))
	if err != nil || draft.Promoted || skills.State(draft.Entry) != "draft" || len(draft.Warnings) != 1 {
		t.Fatalf("created is %+v, %v", draft, err)
	}
	if n, err := w.Count(t.Context(), registry.DefaultWorkspace); err != nil || n != 0 {
		t.Errorf("%d can be called, %v", n, err)
	}
	v, err := w.Promote(t.Context(), me(), skills.Promotion{Seen: registry.AnyRevision(), Name: "adder"})
	if err != nil || v.Version != "1.0.0" || v.Rules == nil || v.Rules.Pack != runtimes.Restricted {
		t.Fatalf("promoted is %+v, %v", v, err)
	}
	_, err = w.Promote(t.Context(), me(), skills.Promotion{Seen: registry.AnyRevision(), Name: "adder"})
	expect(t, err, fault.Conflict, "no draft")
	next := creation("adder")
	next.Code, next.Promote = "def run(action, args):\n    return 2\n", true
	created, err := w.Create(t.Context(), me(), next)
	if err != nil || !created.Promoted || created.Entry.Version.Version != "1.0.1" || skills.State(created.Entry) != "active" {
		t.Errorf("created is %+v, %v", created.Entry, err)
	}
	// A rejected promotion leaves the draft and the active version unchanged.
	next.Code = "def main(a):\n    return 3\n"
	if _, err = w.Create(t.Context(), me(), func() skills.Creation { c := next; c.Promote = false; return c }()); err != nil {
		t.Fatal(err)
	}
	_, err = w.Promote(t.Context(), me(), skills.Promotion{Seen: registry.AnyRevision(), Name: "adder", Version: "1.0.1"})
	expect(t, err, fault.VersionExists, "1.0.1")
	next.Code += "# draft only\n"
	created, err = w.Create(t.Context(), me(), next)
	if err != nil || created.Promoted || created.Refused == nil || len(created.Refused.Details) != 1 || skills.State(created.Entry) != "active_with_draft" {
		t.Errorf("created and not promoted is %+v, %v", created, err)
	}
	if e, err := w.Find(t.Context(), me(), "adder"); err != nil || skills.State(e) != "active_with_draft" || e.Version.Version != "1.0.1" {
		t.Errorf("after a refusal it is %s, %v", skills.State(e), err)
	}
}

// filling is a storage quota that accepts a given number of checks.
type filling struct{ room atomic.Int64 }

func (f *filling) CheckAgentLimit(context.Context, string) error {
	if f.room.Add(-1) < 0 {
		return fault.New(fault.StorageFull, "This workspace is full.")
	}
	return nil
}

// The quota is used up after the draft was stored. The draft is kept although the version cannot be stored.
func TestADraftThatIsKeptWhereAVersionHasNoRoom(t *testing.T) {
	t.Parallel()
	w := begin(t, newStore(t), t.TempDir(), nil)
	quota := &filling{}
	w.agents.Quotas = quota
	wanted := creation("adder")
	wanted.Promote = true
	_, err := w.Create(t.Context(), me(), wanted)
	expect(t, err, fault.StorageFull, "is full")
	_, err = w.Find(t.Context(), me(), "adder")
	expect(t, err, fault.NotFound, "adder")
	quota.room.Store(1)
	created, err := w.Create(t.Context(), me(), wanted)
	if err != nil || created.Promoted || created.Refused == nil || created.Refused.Code != fault.StorageFull || skills.State(created.Entry) != "draft" {
		t.Errorf("created is %+v, %v", created, err)
	}
}

// The error for an invalid skill has file and line, and its name can still be used.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	w := begin(t, newStore(t), t.TempDir(), nil)
	name, language, code := "plain", runtimes.Bash, "echo 1\n"
	if _, err := w.agents.Create(t.Context(), me(), agents.Input{Name: &name, Language: &language, Code: &code}); err != nil {
		t.Fatal(err)
	}
	with := func(file, text string) map[string]registry.File {
		all := files("echo")
		all[file] = registry.File(text)
		return all
	}
	yaml := strings.Replace(settings, "NAME", "echo", 1)
	for what, tt := range map[string]struct {
		from skills.Source
		code fault.Code
		text string
	}{
		"an agent's name":              {skills.Source{Files: files("plain")}, fault.NameTaken, "skill.yaml:1 plain is an agent but not a skill"},
		"code that does not parse":     {skills.Source{Files: with("handler.py", "def echo(:\n")}, fault.InvalidInput, "handler.py:1 SyntaxError."},
		"a function that is not there": {skills.Source{Files: with("handler.py", "def other(): pass\n")}, fault.InvalidInput, "skill.yaml:4 must name an existing function; "},
		"a schema":                     {skills.Source{Files: with("schema.json", `{"input": {"type": "thing"}, "output": {}}`)}, fault.InvalidInput, "schema.json:1 input"},
		"no version":                   {skills.Source{Files: with("skill.yaml", strings.Replace(yaml, "1.0.0", "one", 1))}, fault.InvalidInput, "skill.yaml:2 version must be three numbers"},
		"an archive":                   {skills.Source{Archive: []byte("no archive")}, fault.InvalidInput, "The archive is damaged"},
		"nobody":                       {skills.Source{Name: "nobody"}, fault.NotFound, "never installed"},
		"a bad name":                   {skills.Source{Name: "../up"}, fault.InvalidInput, ""},
	} {
		_, err := w.Install(t.Context(), me(), tt.from)
		if t.Run(what, func(t *testing.T) { expect(t, err, tt.code, tt.text) }); t.Failed() {
			continue
		}
	}
	if _, err := w.Install(t.Context(), me(), skills.Source{Files: files("echo")}); err != nil {
		t.Errorf("repaired, it is refused: %v", err)
	}
	_, err := w.Install(t.Context(), me(), skills.Source{Files: with("handler.py", handler+"# more\n")})
	expect(t, err, fault.VersionExists, "skill.yaml:2 echo@1.0.0 exists with other content, and versions cannot change; raise version in skill.yaml to 1.0.1")
	if _, err := w.Install(t.Context(), me(), skills.Source{Files: files("echo")}); err != nil {
		t.Errorf("installed twice, it is refused: %v", err)
	}
	bad := creation("worse")
	bad.Code = "x = 1\n"
	_, err = w.Create(t.Context(), me(), bad)
	expect(t, err, fault.InvalidInput, "handler.py:1 Define run(action, args)")
	_, err = w.Create(t.Context(), me(), creation("plain"))
	expect(t, err, fault.NameTaken, "Choose another name")
}

// Other workspaces see neither the problems of the directory nor its skills.
func TestOtherWorkspaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder(t, dir, "echo")
	folder(t, dir, "broken", "schema.json", "{")
	w := begin(t, newStore(t), dir, nil)
	other := me()
	other.Workspace = "other"
	if list, err := w.List(t.Context(), other); err != nil || len(list) != 0 {
		t.Errorf("another workspace sees %+v, %v", list, err)
	}
	if created, err := w.Create(t.Context(), other, creation("adder")); err != nil || created.Entry.Workspace != "other" {
		t.Errorf("created is %+v, %v", created, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "_drafts/adder")); err == nil {
		t.Error("a draft of another workspace lies in the directory")
	}
	_, err := w.Register(t.Context(), other, folderSettings("echo"), []byte(`{"type": "object"}`), []byte(`{}`), nil)
	expect(t, err, fault.InvalidInput, "must refer to existing code")
	program := map[string]registry.File{"handler.py": registry.File(handler)}
	if e, err := w.Register(t.Context(), other, folderSettings("echo"), []byte(`{"type": "object"}`), []byte(`{}`), program); err != nil || e.Origin != registry.RegisteredSkill || e.Missing {
		t.Errorf("registered is %+v, %v", e, err)
	}
}
