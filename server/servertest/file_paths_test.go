package servertest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/archive"
	"github.com/atelier-run/atelier/server/servertest"
)

// pathCase is a set of files for one program, in addition to its entry file.
type pathCase struct {
	paths []string
	about string // part of the expected error; "" if the files are accepted
	disk  bool   // whether a folder on disk can contain these files with the same names
}

var pathCases = map[string]pathCase{
	"ordinary":              {[]string{"lib/a.txt", "ä/LICENSE", "a b.txt"}, "", true},
	"only case":             {[]string{"A.txt", "a.txt"}, "only in case", true},
	"only case of a folder": {[]string{"Lib/a.txt", "lib/a.txt"}, "only in case", true},
	"only Unicode form":     {[]string{"e\u0301.txt", "\u00e9.txt"}, "Unicode form", true},
	"a backslash":           {[]string{`a\b.txt`}, "backslashes", true},
	"a colon":               {[]string{"a:b.txt"}, "colons", true},
	"no width":              {[]string{"a\u200b.txt"}, "printable", true},
	"too long":              {[]string{strings.Repeat("d/", 130) + "x"}, "255 bytes", true},
	"a dot file":            {[]string{".env"}, "starts with a dot", false},
	"in a dot folder":       {[]string{"lib/.git/config"}, "starts with a dot", false},
	"reserved":              {[]string{"input.json"}, "reserved", false},
	"in a file":             {[]string{"a.txt", "a.txt/b"}, "a.txt", false},
	"outside":               {[]string{"../a.txt"}, "relative path", false},
	"absolute":              {[]string{"/etc/passwd"}, "relative path", false},
	"an empty part":         {[]string{"a//b.txt"}, "relative path", false},
	"a folder":              {[]string{"lib/"}, "relative path", false},
}

// programOf returns the files of a case, with the entry files of two languages.
func programOf(c pathCase) map[string]string {
	files := map[string]string{"main.js": "export default () => 1\n", "main.py": "def main(): return 1\n"}
	for _, path := range c.paths {
		files[path] = ""
	}
	return files
}

// writeAgent writes an agent with the files of a case into a folder.
func writeAgent(t *testing.T, name string, c pathCase) string {
	t.Helper()
	dir := t.TempDir()
	files := programOf(c)
	files["agent.yaml"] = "name: " + name + "\nlanguage: javascript\nentrypoint: main.js\n"
	for path, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, path), text)
	}
	return dir
}

// archiveOf returns an archive of one draft with the files of a case, as another program could write it.
func archiveOf(t *testing.T, s *servertest.Server, name string, c pathCase) string {
	t.Helper()
	read := collected{versions: map[string][]registry.Version{}}
	if err := archive.Read(bytes.NewReader(s.Want(t, 200, "GET", "/api/v1/archive?agent=saved", nil).Body), &read); err != nil {
		t.Fatal(err)
	}
	agent := &read.agents[0]
	agent.ID, agent.Name = uuid.NewString(), name
	for path, text := range programOf(c) {
		agent.Draft.Files[path] = registry.File(text)
	}
	return read.write(t)
}

// served returns a server that answers with a draft that has the files of a case, like a damaged or hostile server.
func served(t *testing.T, s *servertest.Server, c pathCase) string {
	t.Helper()
	var agent map[string]any
	s.Want(t, 200, "GET", "/api/v1/code-agents/saved", nil).Into(t, &agent)
	agent["draft"].(map[string]any)["files"] = programOf(c)
	body, err := json.Marshal(agent)
	if err != nil {
		t.Fatal(err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	t.Cleanup(other.Close)
	return other.URL
}

// All entry points for the files of a program must apply the same rule, so that each program that can be saved can also
// be exported, imported and stored in a folder. Folders on disk omit names that start with a dot. Messages of Kafka and
// MCP contain no files with paths. Projects have a different rule, because repositories contain files that start with a
// dot.
func TestPaths_SameRuleAtEveryEntryPoint(t *testing.T) {
	t.Parallel()
	data, _ := skillsIn(t, nil)
	s := servertest.On(t, data)
	s.Create(t, map[string]any{"name": "saved", "language": "javascript", "code": "export default () => 1"})
	// Each function returns the error text, or "" if the files were accepted.
	refusal := func(a servertest.Answer) string {
		if a.Status < 300 && !strings.Contains(string(a.Body), `"valid":false`) {
			return ""
		}
		return string(a.Body)
	}
	said := func(code int, _, stderr string) string {
		if code == 0 {
			return ""
		}
		return stderr
	}
	ordinary := pathCases["ordinary"]
	post := func(path string, more map[string]any) func(*testing.T, string, pathCase) string {
		return func(t *testing.T, name string, c pathCase) string {
			body := map[string]any{"language": "javascript", "entrypoint": "main.js", "files": programOf(c)}
			for field, value := range more {
				body[field] = value
			}
			if _, named := more["name"]; named {
				body["name"] = name
			}
			return refusal(s.Do(t, "POST", path, body))
		}
	}
	skill := map[string]string{"skill.yaml": echoSettings, "schema.json": echoSchemas, "handler.py": echoHandler}
	skillOf := func(c pathCase) map[string]string {
		files := map[string]string{}
		for _, path := range c.paths {
			files[path] = "text"
		}
		for path, text := range skill {
			files[path] = text
		}
		return files
	}
	onServer := map[string]func(*testing.T, string, pathCase) string{
		"create":     post("/api/v1/code-agents", map[string]any{"name": ""}),
		"inline run": post("/api/v1/execute", nil),
		"validate":   post("/api/v1/validate", nil),
		"infer":      post("/api/v1/infer", map[string]any{"language": "python", "entrypoint": "main.py"}),
		"save": func(t *testing.T, name string, c pathCase) string {
			s.Create(t, map[string]any{"name": name, "language": "javascript", "code": "export default () => 1"})
			return refusal(s.Do(t, "PUT", "/api/v1/code-agents/"+name, map[string]any{"files": programOf(c), "entrypoint": "main.js"}, servertest.Headers{"If-Match": `"1"`}))
		},
		"archive import": func(t *testing.T, name string, c pathCase) string {
			return refusal(s.Do(t, "POST", "/api/v1/archive", archiveOf(t, s, name, c), servertest.Headers{"Content-Type": "application/gzip"}))
		},
		"skills install": func(t *testing.T, _ string, c pathCase) string {
			return refusal(s.Do(t, "POST", "/v1/skills/install", map[string]any{"files": skillOf(c)}))
		},
		"pull": func(t *testing.T, name string, c pathCase) string {
			other := &servertest.Server{Client: &servertest.Client{URL: served(t, s, c), Token: s.Token}}
			return said(command(t, other, "", "pull", "saved", filepath.Join(t.TempDir(), name), "--yes"))
		},
	}
	onDisk := map[string]func(*testing.T, string, pathCase) string{
		"push": func(t *testing.T, name string, c pathCase) string {
			return said(command(t, s, "", "push", writeAgent(t, name, c), "--yes"))
		},
		"run of a folder": func(t *testing.T, name string, c pathCase) string {
			done := servertest.Command(t, "", "run", writeAgent(t, name, c))
			return said(done.Code, "", done.Stderr)
		},
		"skills check": func(t *testing.T, _ string, c pathCase) string {
			dir := t.TempDir()
			for path, text := range skillOf(c) {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, path), text)
			}
			done := servertest.Command(t, "", "skills", "check", dir)
			return said(done.Code, "", done.Stderr+done.Stdout)
		},
	}
	number := 0
	check := func(entry, name string, c pathCase, enter func(*testing.T, string, pathCase) string) {
		number++
		agent := fmt.Sprint("agent", number)
		t.Run(entry+"/"+name, func(t *testing.T) {
			switch why := enter(t, agent, c); {
			case (why == "") != (c.about == ""):
				t.Errorf("the refusal is %q, want one about %q", why, c.about)
			case !strings.Contains(why, c.about):
				t.Errorf("the refusal is %q, want one about %q", why, c.about)
			}
		})
	}
	for name, c := range pathCases {
		for entry, enter := range onServer {
			if entry == "archive import" && name == "a folder" {
				continue // The slash makes the entry a folder, so the case does not apply.
			}
			check(entry, name, c, enter)
		}
		if c.disk {
			for entry, enter := range onDisk {
				check(entry, name, c, enter)
			}
		}
	}
	for _, path := range []string{".env", "lib/.git/config"} {
		for entry, enter := range onDisk {
			check(entry+" leaves out", path, pathCase{slices.Concat(ordinary.paths, []string{path}), "", true}, enter)
		}
	}
}
