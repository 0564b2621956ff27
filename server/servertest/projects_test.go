package servertest_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/servertest"
)

// packed returns a tar.gz of files. A value that begins with "-> " makes a symbolic link.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	w := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if target, link := strings.CutPrefix(text, "-> "); link {
			header.Typeflag, header.Linkname, header.Size, text = tar.TypeSymlink, target, 0, ""
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// importProject imports files and returns the names of the files that the import skipped.
func importProject(t *testing.T, s *servertest.Server, name string, files map[string]string) []string {
	t.Helper()
	var report struct{ Skipped []string }
	s.Want(t, 200, http.MethodPost, "/api/v1/projects/"+name+"/import", string(packed(t, files)), servertest.Headers{"Content-Type": "application/gzip"}).Into(t, &report)
	return report.Skipped
}

// overlayOf returns the newest overlay of a project.
func overlayOf(t *testing.T, s *servertest.Server, project string) registry.Overlay {
	t.Helper()
	var page struct{ Items []registry.Overlay }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/"+project+"/overlays", nil).Into(t, &page)
	if len(page.Items) == 0 {
		t.Fatal("the project has no overlay")
	}
	return page.Items[0]
}

// fileOf returns a file of a project.
func fileOf(t *testing.T, s *servertest.Server, project, path string) string {
	t.Helper()
	var file struct{ Content string }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/"+project+"/file?path="+path, nil).Into(t, &file)
	return file.Content
}

// onProject returns an inline program that may change a project.
func onProject(project, language, runtime, code string) map[string]any {
	return map[string]any{
		"language": language, "runtime": runtime, "code": code, "capabilities": map[string]any{"files": map[string]any{"project": project, "write": true}},
	}
}

// theSameInEveryLanguage contains, for each language, a program that uses every file function. All programs must give
// the same answer.
func theSameInEveryLanguage() map[string][3]string {
	javascript := `export default async (input, ctx) => {
		const before = await ctx.readFile("src/main.py");
		await ctx.writeFile("src/main.py", before + "# é \"\\ 𝄞\n");
		await ctx.writeFile("./new//file.txt", "one\ntwo\n");
		await ctx.deleteFile("old.txt");
		const found = await ctx.searchContent("^t[vw]o$");
		await ctx.submitResult("Changed files", ["src/main.py", "new/file.txt", "old.txt"]);
		return { before, after: await ctx.readFile("src/main.py"), top: await ctx.listDir(), src: await ctx.listDir("src"), root: await ctx.listDir("/"),
			exists: [await ctx.fileExists("new/file.txt"), await ctx.fileExists("old.txt")], files: await ctx.searchFiles("**/*.py"), found };
	}`
	return map[string][3]string{
		"goja": {"javascript", "goja", javascript},
		"node": {"javascript", "node", javascript},
		"python": {"python", "python", `
def main(input, ctx):
    before = ctx.read_file("src/main.py")
    ctx.write_file("src/main.py", before + "# é \"\\ 𝄞\n")
    ctx.write_file("./new//file.txt", "one\ntwo\n")
    ctx.delete_file("old.txt")
    found = ctx.search_content("^t[vw]o$")
    ctx.submit_result("Changed files", ["src/main.py", "new/file.txt", "old.txt"])
    return {"before": before, "after": ctx.read_file("src/main.py"), "top": ctx.list_dir(), "src": ctx.list_dir("src"), "root": ctx.list_dir("/"),
            "exists": [ctx.file_exists("new/file.txt"), ctx.file_exists("old.txt")], "files": ctx.search_files("**/*.py"), "found": found}
`},
		"bash": {"bash", "bash", `
set -e
before=$(atelier read src/main.py)
printf '%s\n# é "\\ 𝄞\n' "$before" | atelier write src/main.py
printf 'one\ntwo\n' | atelier write ./new//file.txt
atelier delete old.txt
found=$(atelier grep '^t[vw]o$')
atelier submit "Changed files" src/main.py new/file.txt old.txt
atelier read src/main.py > after
after=$(sed 's/\\/\\\\/g; s/"/\\"/g' after | sed ':a;N;$!ba;s/\n/\\n/g')
exists() { if atelier exists "$1"; then echo true; else echo false; fi; }
printf '{"before":"%s\\n","after":"%s\\n","top":%s,"src":%s,"root":%s,"exists":[%s,%s],"files":%s,"found":%s}' \
  "$(printf %s "$before" | sed ':a;N;$!ba;s/\n/\\n/g')" "$after" "$(atelier list)" "$(atelier list src)" "$(atelier list /)" "$(exists new/file.txt)" "$(exists old.txt)" "$(atelier find '**/*.py')" "$found" > "$OUTPUT"
`},
	}
}

func TestFiles_EveryLanguage_OneMeaning(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	const want = `{"before":"import os\nprint(1)\n","after":"import os\nprint(1)\n# é \"\\ 𝄞\n","top":["README.md","new/","src/"],"src":["lib/","main.py"],"root":["README.md","new/","src/"],` +
		`"exists":[true,false],"files":["src/lib/util.py","src/main.py"],"found":[{"file":"README.md","line":2,"text":"tvo"},{"file":"new/file.txt","line":2,"text":"two"}]}`
	for name, p := range theSameInEveryLanguage() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := "one-" + name
			importProject(t, s, project, map[string]string{"README.md": "# Read\ntvo\n", "src/main.py": "import os\nprint(1)\n", "src/lib/util.py": "two = 2\n", "old.txt": "two\n"})
			run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", onProject(project, p[0], p[1], p[2])).Run(t)
			if run.Status != "succeeded" {
				t.Fatalf("%s: %+v %s", run.Status, run.Error, run.Stderr)
			}
			var got, expected any
			if err := json.Unmarshal(run.Output, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(want), &expected); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(expected) {
				t.Errorf("got  %s\nwant %s", run.Output, want)
			}
			if text := fileOf(t, s, project, "src/main.py"); text != "import os\nprint(1)\n" {
				t.Errorf("the project changed before anyone accepted it: %q", text)
			}
			calls := callsOf(t, s, run.RunID)
			if len(calls) < 13 || calls[0].Function != "readFile" || calls[0].Path != "src/main.py" || calls[0].Bytes != 19 || calls[0].Status != "succeeded" {
				t.Errorf("%d calls, the first %+v", len(calls), calls[0])
			}
			overlay := overlayOf(t, s, project)
			if overlay.Summary != "Changed files" || overlay.RunID != run.RunID || len(overlay.Entries) != 3 || overlay.Status != registry.OverlayOpen {
				t.Fatalf("%+v", overlay)
			}
			s.Want(t, 200, http.MethodPost, "/api/v1/projects/"+project+"/overlays/"+overlay.ID+"/accept", `{}`)
			if text := fileOf(t, s, project, "src/main.py"); text != "import os\nprint(1)\n# é \"\\ 𝄞\n" {
				t.Errorf("%q", text)
			}
			s.Want(t, 404, http.MethodGet, "/api/v1/projects/"+project+"/file?path=old.txt", nil)
		})
	}
}

// hostilePaths are paths that must never name a file.
func hostilePaths() []string {
	long := strings.Repeat("a", 256)
	return []string{
		"", "/", "/etc/passwd", "//etc/passwd", "..", "../x", "a/../../x", "a/..", "./..", "../../../../../../etc/passwd", "a/b/../../../x", ".../x", "a/.../b", ". /x", ".. /x", "a/. ./b",
		"..\\x", "a\\..\\..\\x", "C:\\x", "C:/x", "c:x", "\\\\host\\x", "file:///etc/passwd", "a:b", "x\x00y", "x\ny", "x\ty", "x\u202ey", "x\u200by", "x\x1by", "\u2028x", "x\u00a0y",
		".git/config", ".git/hooks/post-checkout", "a/.git/hooks/x", ".GIT/config", ".Git/x", ".git./x", ".git /x", "a/.git", ".git", ".ﬁle/../.git/x", long, "a/" + long, strings.Repeat("a/", 513) + "x",
		"%2e%2e/x/../..", "a/%2e/../../y", "~/../x", "$HOME/../..", "/proc/self/environ", "/work/main.py", "/dev/stdin", "/.", "./", ".", "a/../", "../", "..;/x/..", "a/b/c/../../../..", "\ufeff/../x", "．．/../x", "nul/../..",
	}
}

func TestFiles_HostilePaths_NothingOutside(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	programs := map[string][3]string{
		"python": {"python", "python", `
def main(input, ctx):
    done = []
    for path in input["paths"]:
        for call in (lambda: ctx.write_file(path, "x"), lambda: ctx.read_file(path), lambda: ctx.delete_file(path)):
            try:
                call()
                done.append(path)
            except Exception:
                pass
    return done
`},
		"goja": {"javascript", "goja", ``}, "node": {"javascript", "node", ``},
		"bash": {"bash", "bash", `
count=$(jq '.paths | length' "$INPUT_FILE")
for ((n = 0; n < count; n++)); do
  IFS= read -r -d '' path < <(jq -j ".paths[$n]" "$INPUT_FILE"; printf '\0')
  for action in write read delete; do
    if printf x | atelier "$action" "$path" > /dev/null 2>&1; then echo "$path"; fi
  done
done > done
jq -R -s 'split("\n") | map(select(. != ""))' done > "$OUTPUT"
`},
	}
	javascript := `export default async ({ paths }, ctx) => {
		const done = [];
		for (const path of paths) for (const call of [() => ctx.writeFile(path, "x"), () => ctx.readFile(path), () => ctx.deleteFile(path)])
			try { await call(); done.push(path); } catch {}
		return done;
	}`
	if n := len(hostilePaths()); n < 60 {
		t.Fatalf("%d paths", n)
	}
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			importProject(t, s, "hostile-"+name, map[string]string{"kept.txt": "kept"})
			body := onProject("hostile-"+name, p[0], p[1], p[2])
			if p[2] == "" {
				body["code"] = javascript
			}
			paths := hostilePaths()
			if name == "bash" { // Bash variables cannot contain NUL, and an empty argument means the whole project.
				paths = slices.DeleteFunc(paths, func(path string) bool { return path == "" || strings.ContainsRune(path, 0) })
			}
			body["input"] = map[string]any{"paths": paths}
			run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", body).Run(t)
			if run.Status != "succeeded" || string(run.Output) != "[]" {
				t.Errorf("%s %s %+v %s", run.Status, run.Output, run.Error, run.Stderr)
			}
			var page struct{ Items []registry.Overlay }
			s.Want(t, 200, http.MethodGet, "/api/v1/projects/hostile-"+name+"/overlays", nil).Into(t, &page)
			if len(page.Items) > 0 {
				t.Errorf("%+v", page.Items)
			}
		})
	}
}

func TestFiles_Bounds(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "bounds", map[string]string{"a/file.txt": "text", "binary.bin": "\xff\xfe"})
	program := func(language, runtime, code string) servertest.Answer {
		body := onProject("bounds", language, runtime, code)
		body["limits"] = map[string]any{"memoryBytes": 1 << 30, "timeoutMs": 400_000, "cpuMs": 400_000}
		return s.Want(t, 200, http.MethodPost, "/api/v1/execute", body)
	}
	largest := program("python", "python", `
def main(input, ctx):
    text = "é" * (5 << 20)
    ctx.write_file("large.txt", text)
    assert ctx.read_file("large.txt") == text
    said = []
    for call in (lambda: ctx.write_file("larger.txt", text + "x"), lambda: ctx.write_file("a/file.txt/b", "x"), lambda: ctx.write_file("a", "x"),
                 lambda: ctx.read_file("binary.bin"), lambda: ctx.write_file("x", "\ud800"), lambda: ctx.search_content("(a"), lambda: ctx.search_content("((a{100}){100}){100}"),
                 lambda: ctx.search_content("(?=a)"), lambda: ctx.submit_result("x", ["binary.bin"]), lambda: ctx.list_dir("nowhere"), lambda: ctx.read_file("nowhere"), lambda: ctx.call("readFile")):
        try:
            call()
            said.append("nothing")
        except Exception as error:
            said.append(str(error))
    for n in range(5):
        ctx.write_file(f"more{n}.txt", text)
    try:
        ctx.write_file("last.txt", text)
    except Exception as error:
        said.append(str(error))
    return said
`).Run(t)
	if largest.Status != "succeeded" {
		t.Fatalf("%+v %s", largest.Error, largest.Stderr)
	}
	var said []string
	if err := json.Unmarshal(largest.Output, &said); err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{
		"at most 10 MiB", "a/file.txt is a file", "a is a folder", "not UTF-8", "surrogate", "not a valid RE2 regular expression", "repe", "not a valid RE2 regular expression", "did not change", "no folder nowhere",
		"no file nowhere", "path is missing", "at most 64 MiB in total",
	} {
		if n >= len(said) || !strings.Contains(said[n], want) {
			t.Errorf("%d: %v, want %q", n, said[min(n, len(said)-1):], want)
		}
	}
	for _, runtime := range []string{"goja", "node"} {
		run := program("javascript", runtime, `export default async (input, ctx) => {
			const text = "𝄞a".repeat(600_000);
			await ctx.writeFile("large.js.txt", text);
			return (await ctx.readFile("large.js.txt")) === text;
		}`).Run(t)
		if string(run.Output) != "true" {
			t.Errorf("%s: %s %+v", runtime, run.Output, run.Error)
		}
	}
}

func TestFiles_NotGranted_Denied(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "closed", map[string]string{"a.txt": "a"})
	none := s.Want(t, 200, http.MethodPost, "/api/v1/execute", map[string]any{"language": "python", "code": "def main(input, ctx): return ctx.read_file('a.txt')\n"}).Run(t)
	if none.Error == nil || none.Error.Type != "denied" || none.Error.Rule != "files" || !strings.Contains(none.Error.Remedy, "capabilities") {
		t.Errorf("%+v", none.Error)
	}
	body := onProject("closed", "javascript", "goja", "export default (input, ctx) => ctx.writeFile('a.txt', 'b')")
	body["capabilities"] = map[string]any{"files": map[string]any{"project": "closed"}}
	readOnly := s.Want(t, 200, http.MethodPost, "/api/v1/execute", body).Run(t)
	if readOnly.Error == nil || readOnly.Error.Type != "denied" || !strings.Contains(readOnly.Error.Remedy, "write") {
		t.Errorf("%+v", readOnly.Error)
	}
	missing := s.Want(t, 200, http.MethodPost, "/api/v1/execute", onProject("nowhere", "python", "python", "def main(): return 1\n")).Run(t)
	if missing.Error == nil || missing.Error.Type != "denied" || !strings.Contains(missing.Error.Message, "nowhere") || missing.Error.Remedy == "" {
		t.Errorf("%+v", missing.Error)
	}
	s.Want(t, 422, http.MethodPost, "/api/v1/execute", onProject("../x", "python", "python", "def main(): return 1\n"))
}

func TestOverlay_TwoOnOneFile_SecondConflicts(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	lines := "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	importProject(t, s, "shared", map[string]string{"list.txt": lines, "other.txt": "x\n", "gone.txt": "x\n"})
	propose := func(code string) registry.Overlay {
		t.Helper()
		run := s.Want(t, 200, http.MethodPost, "/api/v1/execute", onProject("shared", "python", "python", "def main(input, ctx):\n"+code)).Run(t)
		if run.Status != "succeeded" {
			t.Fatalf("%+v", run.Error)
		}
		return overlayOf(t, s, "shared")
	}
	at := func(o registry.Overlay, action string) string {
		return "/api/v1/projects/shared/overlays/" + o.ID + "/" + action
	}
	first := propose("    ctx.write_file('list.txt', ctx.read_file('list.txt').replace('two', 'TWO'))\n")
	same := propose("    ctx.write_file('list.txt', ctx.read_file('list.txt').replace('two', '2'))\n    ctx.write_file('other.txt', 'y\\n')\n")
	far := propose("    ctx.write_file('list.txt', ctx.read_file('list.txt').replace('six', 'SIX'))\n")
	removed := propose("    ctx.delete_file('list.txt')\n")
	s.Want(t, 200, http.MethodPost, at(first, "accept"), `{"summary":"Two is louder"}`)
	s.Want(t, 409, http.MethodPost, at(first, "accept"), `{}`)
	var problem struct {
		Code      string
		Conflicts []struct{ Path, Outcome, Unified, Project string }
	}
	s.Want(t, 409, http.MethodPost, at(same, "accept"), `{}`).Into(t, &problem)
	if len(problem.Conflicts) != 1 || !strings.Contains(problem.Conflicts[0].Unified, "+2\n") || !strings.Contains(problem.Conflicts[0].Project, "+TWO\n") {
		t.Errorf("%+v", problem)
	}
	if text := fileOf(t, s, "shared", "other.txt"); text != "x\n" {
		t.Errorf("a conflict applied a part: %q", text)
	}
	s.Want(t, 409, http.MethodPost, at(removed, "accept"), `{}`)
	s.Want(t, 200, http.MethodPost, at(far, "accept"), `{}`)
	if text := fileOf(t, s, "shared", "list.txt"); text != strings.NewReplacer("two", "TWO", "six", "SIX").Replace(lines) {
		t.Errorf("%q", text)
	}
	var part registry.Overlay
	s.Want(t, 200, http.MethodPost, at(same, "accept"), `{"files":["other.txt"]}`).Into(t, &part)
	if part.Status != registry.OverlayOpen {
		t.Errorf("%+v", part)
	}
	s.Want(t, 422, http.MethodPost, at(same, "accept"), `{"files":["nowhere.txt"]}`)
	s.Want(t, 409, http.MethodPost, at(same, "accept"), `{"files":["other.txt"]}`)
	s.Want(t, 200, http.MethodPost, at(same, "reject"), `{}`).Into(t, &part)
	if part.Status != registry.OverlayAccepted || part.Entries[0].Status != registry.OverlayRejected {
		t.Errorf("%+v", part)
	}
	var history struct{ Items []registry.ProjectChange }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/shared/changes", nil).Into(t, &history)
	if len(history.Items) != 4 || history.Items[2].Summary != "Two is louder" || history.Items[3].Summary != "Import" || history.Items[3].Touched != 3 {
		t.Errorf("%+v", history.Items)
	}
}

func TestOverlay_AcceptedTwiceAtOnce_OnlyOneApplies(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "raced", map[string]string{"a.txt": "a\n"})
	s.Want(t, 200, http.MethodPost, "/api/v1/execute", onProject("raced", "python", "python", "def main(input, ctx): ctx.write_file('a.txt', 'b\\n')\n"))
	overlay := overlayOf(t, s, "raced")
	var group sync.WaitGroup
	statuses := make([]int, 4)
	for n := range statuses {
		group.Go(func() {
			statuses[n] = s.Do(t, http.MethodPost, "/api/v1/projects/raced/overlays/"+overlay.ID+"/accept", `{}`).Status
		})
	}
	group.Wait()
	slices.Sort(statuses)
	if !slices.Equal(statuses, []int{200, 409, 409, 409}) {
		t.Errorf("%v", statuses)
	}
	var history struct{ Items []registry.ProjectChange }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/raced/changes", nil).Into(t, &history)
	if len(history.Items) != 2 {
		t.Errorf("%d changes", len(history.Items))
	}
}

func TestImportProject_HostileArchives(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	if skipped := importProject(t, s, "links", map[string]string{"a.txt": "a", "link": "-> /etc/passwd", "up": "-> ../..", ".git/config": "x"}); len(skipped) != 3 {
		t.Errorf("%v", skipped)
	}
	var detail struct{ Paths []struct{ Path string } }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/links", nil).Into(t, &detail)
	if len(detail.Paths) != 1 || detail.Paths[0].Path != "a.txt" {
		t.Errorf("%+v", detail)
	}
	refused := func(name string, archive []byte, kind string, want int) {
		t.Helper()
		answer := s.Do(t, http.MethodPost, "/api/v1/projects/refused/import", string(archive), servertest.Headers{"Content-Type": kind})
		if answer.Status != want {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	for name, files := range map[string]map[string]string{
		"up": {"../x": "x"}, "absolute": {"/etc/x": "x"}, "file and folder": {"a": "x", "a/b": "x"}, "twice": {"a//b": "x", "a/b": "y"}, "empty": {}, "large": {"a": strings.Repeat("a", 10<<20+1)},
	} {
		refused(name, packed(t, files), "application/gzip", 422)
	}
	whole := packed(t, map[string]string{"a.txt": strings.Repeat("abc", 5000)})
	refused("cut off", whole[:len(whole)/2], "application/gzip", 422)
	refused("no archive", []byte("hello"), "application/gzip", 422)
	refused("type", whole, "text/plain", 415)
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	link := &zip.FileHeader{Name: "root/link"}
	link.SetMode(fs.ModeSymlink | 0o777)
	for _, header := range []*zip.FileHeader{{Name: "root/b.txt"}, link} {
		file, err := w.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte("/etc/passwd")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.Want(t, 200, http.MethodPost, "/api/v1/projects/zipped/import?strip=true", zipped.String(), servertest.Headers{"Content-Type": "application/zip"})
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/zipped/file?path=b.txt", nil)
	s.Want(t, 404, http.MethodGet, "/api/v1/projects/zipped/file?path=link", nil)
	s.Want(t, 409, http.MethodPost, "/api/v1/projects/zipped/import?strip=true", zipped.String(), servertest.Headers{"Content-Type": "application/zip"})
	s.Want(t, 204, http.MethodDelete, "/api/v1/projects/zipped", nil)
	s.Want(t, 404, http.MethodGet, "/api/v1/projects/zipped", nil)
}

// TestMaterialize writes an overlay to a folder, and reads the changed folder back. Links and hostile names must be
// refused.
func TestMaterialize(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	importProject(t, s, "shop", map[string]string{"src/a.txt": "a\n", "b.txt": "b\n", "gone.txt": "x\n"})
	s.Want(t, 200, http.MethodPost, "/api/v1/execute", onProject("shop", "python", "", "def main(ctx):\n    ctx.write_file('src/a.txt', 'changed\\n')\n    ctx.delete_file('gone.txt')\n"))
	overlay, dir := overlayOf(t, s, "shop").ID, filepath.Join(t.TempDir(), "out")
	cli := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := command(t, s, "", append([]string{"project", "materialize", "shop", overlay}, args...)...)
		if code != want {
			t.Errorf("%v: exit %d, want %d: %s%s", args, code, want, stdout, stderr)
		}
		return stderr
	}
	cli(0, dir)
	for name, want := range map[string]string{"src/a.txt": "changed\n", "b.txt": "b\n", "gone.txt": ""} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	cli(2, dir) // The folder is not empty.
	write(t, filepath.Join(dir, "new.txt"), "new\n")
	write(t, filepath.Join(dir, "src", "a.txt"), "a\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if stderr := cli(2, dir, "--read-back"); !strings.Contains(stderr, "link is a link") {
		t.Errorf("a link: %s", stderr)
	}
	if err := os.Remove(filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	seen := overlayOf(t, s, "shop").Revision
	cli(0, dir, "--read-back")
	if refused := s.Want(t, 409, http.MethodPost, "/api/v1/projects/shop/overlays/"+overlay+"/accept", fmt.Sprintf(`{"revision":%d}`, seen)); !strings.Contains(string(refused.Body), "changed in the meantime") {
		t.Errorf("accepted changes that were replaced: %s", refused.Body)
	}
	got := map[string]registry.EditKind{}
	for _, entry := range overlayOf(t, s, "shop").Entries {
		got[entry.Path] = entry.Kind
	}
	if want := map[string]registry.EditKind{"gone.txt": registry.FileDeleted, "new.txt": registry.FileAdded}; !maps.Equal(got, want) {
		t.Errorf("the overlay changes %v, want %v", got, want)
	}
	address := "/api/v1/projects/shop/overlays/" + overlay + "/archive"
	zipped := servertest.Headers{"Content-Type": "application/gzip"}
	for name, files := range map[string]map[string]string{
		"up": {"../a.txt": "x"}, "absolute": {"/etc/passwd": "x"}, "link": {"b.txt": "-> /etc/passwd"}, "backslash": {`a\..\b`: "x"}, "file and folder": {"a": "x", "a/b": "x"},
	} {
		if answer := s.Do(t, http.MethodPut, address, string(packed(t, files)), zipped); answer.Status != 422 {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	same := map[string]string{"src/a.txt": "a\n", "b.txt": "b\n", "gone.txt": "x\n"}
	s.Want(t, 409, http.MethodPut, address, string(packed(t, same)), zipped)
	s.Want(t, 200, http.MethodPost, "/api/v1/projects/shop/overlays/"+overlay+"/accept", `{"files":["new.txt"]}`)
	s.Want(t, 409, http.MethodPut, address, string(packed(t, map[string]string{"b.txt": "z"})), zipped)
}

// A git bundle must be imported with the files of its HEAD, and links must be skipped.
func TestProject_ImportBundle(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	fixtures := filepath.Join(servertest.Root(t), "registry", "gitbundle", "testdata")
	code, _, faults := command(t, s, "", "project", "import", "shop", filepath.Join(fixtures, "shop.bundle"))
	if code != 0 || !strings.Contains(faults, "skipped link") || !strings.Contains(faults, "imported 3 files") {
		t.Fatal(code, faults)
	}
	if text := fileOf(t, s, "shop", "README.md"); text != "# Shop\n\nSells.\n" {
		t.Errorf("%q", text)
	}
	var history struct{ Items []registry.ProjectChange }
	s.Want(t, 200, http.MethodGet, "/api/v1/projects/shop/changes", nil).Into(t, &history)
	if len(history.Items) != 1 || history.Items[0].Summary != "Import of HEAD at f02a2afc9540" {
		t.Errorf("%+v", history)
	}
	part, err := os.ReadFile(filepath.Join(fixtures, "part.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	refused := s.Want(t, 422, http.MethodPost, "/api/v1/projects/part/import", string(part), servertest.Headers{"Content-Type": "application/x-git-bundle"}).Problem(t)
	if len(refused.Errors) != 1 || refused.Errors[0].Pointer != "/archive" || !strings.Contains(refused.Errors[0].Message, "part of the history") {
		t.Errorf("%+v", refused)
	}
}
