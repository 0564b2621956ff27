package servertest_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
	"github.com/atelier-run/atelier/server/servertest"
)

// TestPackages_Credentials installs packages from private indexes with secrets of the workspace. Neither the secrets nor the
// header made from them may appear in answers, locks, events, logs or the packages directory, even if they are wrong.
func TestPackages_Credentials(t *testing.T) {
	t.Parallel()
	const password, token = "hunter2-and-more", "npm_0123456789abcdef"
	basic := base64.StdEncoding.EncodeToString([]byte("ada:" + password))
	python, node := packagestest.NewIndex(t, shouting()), packagestest.NewIndex(t)
	node.AddNPM(t, packagestest.Tarball{Name: "hello", Version: "1.0.0", Files: map[string]string{"index.js": "module.exports = 'hello'"}})
	python.Require("Basic " + basic)
	node.Require("Bearer " + token)
	dir, data := packagestest.Dir(t), t.TempDir()
	s := servertest.On(t, data, servertest.Flags(t, map[string]string{"python-index": python.Simple(), "npm-registry": node.NPM(), "uv": packagestest.UV(t), "packages-dir": dir}))
	var answers strings.Builder
	want := func(status int, method, path string, body any) string {
		t.Helper()
		answer := string(s.Want(t, status, method, "/api/v1"+path, body).Body)
		answers.WriteString(answer)
		return answer
	}
	s.Create(t, map[string]any{"name": "loud", "language": "python", "code": "import shout\n\ndef main():\n    return shout.shout('a')\n", "packages": []string{"shout"}})
	s.Create(t, map[string]any{"name": "polite", "language": "javascript", "code": "import hello from 'hello';\nexport default () => hello;\n", "packages": []string{"hello"}})
	secret := func(name, value string) {
		t.Helper()
		s.Want(t, 200, "PUT", "/api/v1/secrets/"+name, map[string]string{"value": value})
	}
	wrong := strings.Replace(python.Simple(), "//", "//ada:"+password+"-wrong@", 1)
	for range 2 { // The first round has no password, and the second one has a wrong password.
		want(503, "POST", "/code-agents/loud/packages/resolve", `{}`)
		want(503, "POST", "/code-agents/polite/packages/resolve", `{}`)
		secret("PIP_INDEX_URL", wrong)
		secret("NPM_TOKEN", token+"-wrong")
	}
	secret("PIP_INDEX_URL", "http://ada:"+password+"@192.0.2.1/simple/")
	if answer := want(503, "POST", "/code-agents/loud/packages/resolve", `{}`); !strings.Contains(answer, "192.0.2.1:80, and this server does not allow") {
		t.Errorf("a host that the operator does not name: %s", answer)
	}
	secret("NPM_TOKEN", token+"\nscript-shell=/bin/sh")
	want(503, "POST", "/code-agents/polite/packages/resolve", `{}`)
	s.Want(t, 204, "DELETE", "/api/v1/secrets/NPM_TOKEN", nil)
	secret("PIP_INDEX_URL", strings.Replace(python.Simple(), "//", "//ada:"+password+"@", 1))
	secret("NPMRC", "# private\nregistry = "+node.NPM()+"\n//"+strings.TrimPrefix(node.NPM(), "http://")+":_authToken="+token+"\n")
	for name, output := range map[string]string{"loud": `"A"`, "polite": `"hello"`} {
		run := s.Execute(t, name, "draft", map[string]any{})
		if string(run.Output) != output {
			t.Fatalf("%s: %+v %s", name, run.Error, run.Output)
		}
		want(200, "GET", "/runs/"+run.RunID+"/events", nil)
		s.Publish(t, name, "1.0.0")
		want(200, "GET", "/code-agents/"+name+"/versions/1.0.0", nil)
		want(200, "GET", "/code-agents/"+name+"/versions/1.0.0/sbom", nil)
	}
	want(200, "GET", "/packages/installed", nil)
	if archives, err := filepath.Glob(filepath.Join(dir, "archives", "sha*")); err != nil || len(archives) != 0 {
		t.Errorf("archives of a private index are shared: %v", archives)
	}
	secret("NPMRC", "registry="+node.NPM()+"\nscript-shell=/bin/sh\n")
	if answer := want(503, "POST", "/code-agents/polite/packages/resolve", `{"renew":true}`); !strings.Contains(answer, "line 2") {
		t.Errorf("another setting: %s", answer)
	}
	s.Stop(t)
	read := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "uv" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, hidden := range []string{password, token, basic} {
			if strings.Contains(string(text), hidden) {
				t.Errorf("%s contains a secret", path)
			}
		}
		return err
	}
	for _, root := range []string{dir, data} {
		if err := filepath.WalkDir(root, read); err != nil {
			t.Error(err)
		}
	}
	for where, text := range map[string]string{"an answer": answers.String(), "the log": s.Log.String()} {
		for _, hidden := range []string{password, token, basic} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s contains a secret", where)
			}
		}
	}
}
