package servertest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
)

// hidden is a value that is different in each of the tested encodings.
const hidden = `t0p/Secret+"42"é <&~`

// leaks returns the forms of a value that may appear nowhere except encrypted in its row.
func leaks(t *testing.T, value string) map[string]string {
	t.Helper()
	quoted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"plain": value, "json": strings.Trim(string(quoted), `"`), "query": url.QueryEscape(value), "path": url.PathEscape(value), "hex": hex.EncodeToString([]byte(value)),
		"half": value[:len(value)-6], "query, half": url.QueryEscape(value[:len(value)-6]),
	}
	for shift := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", shift) + value))
		text = text[4 : len(text)-4] // Keep only the part that depends on the value alone.
		all[fmt.Sprintf("base64 %d", shift)] = text
		all[fmt.Sprintf("base64 url %d", shift)] = strings.NewReplacer("+", "-", "/", "_").Replace(text)
	}
	return all
}

func clean(t *testing.T, where string, text []byte) {
	t.Helper()
	folded := bytes.ToLower(text)
	for name, leak := range leaks(t, hidden) {
		if at := bytes.Index(folded, []byte(strings.ToLower(leak))); at >= 0 {
			t.Errorf("%s has the secret, %s: …%q…", where, name, text[max(0, at-80):min(len(text), at+120)])
		}
	}
}

// telltales returns programs that print the secret KEY in six encodings, in pieces, as events, and in their result or
// error.
func telltales() map[string]map[string]any {
	js := `export default async (input, ctx) => {
	  const v = ctx.env.KEY, b = new TextEncoder().encode(v), s = String.fromCharCode(...b)
	  for (const pad of ['', 'a', 'aa']) console.log('x' + btoa(pad + s), btoa(pad + s).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''))
	  console.log(v, encodeURIComponent(v), new URLSearchParams({v}).toString(), JSON.stringify(v), JSON.stringify(JSON.stringify({v})))
	  console.log([...b].map((x) => x.toString(16).padStart(2, '0')).join(''))
	  console.error(v.toUpperCase(), v.toLowerCase())
	  ctx.log('info', 'it is ' + v, { key: v, [v]: 1 })
	  ctx.progress(1, 2, v)
	  if (input.fail) throw new Error('cannot log in with ' + v + ' or ' + btoa(s))
	  return { key: v, nested: [btoa(s), { [v]: encodeURIComponent(v) }] }
	}`
	return map[string]map[string]any{
		"goja": {"language": "javascript", "runtime": "goja", "code": js},
		"node": {"language": "javascript", "runtime": "node", "code": js},
		"python": {"language": "python", "code": `
import base64, json, os, sys, time, urllib.parse
def main(input, ctx):
    v = ctx.env["KEY"]
    assert os.environ["KEY"] == v
    raw = v.encode()
    for pad in (b"", b"a", b"aa"):
        print("x" + base64.b64encode(pad + raw).decode(), base64.urlsafe_b64encode(pad + raw).decode().rstrip("="), base64.encodebytes(pad + raw * 4).decode())
    print(v, urllib.parse.quote(v), urllib.parse.quote_plus(v), json.dumps(v), repr(v), json.dumps(json.dumps([v])), raw.hex(), raw)
    for c in v:
        sys.stdout.write(c)
        sys.stdout.flush()
    os.write(2, raw[:9]); time.sleep(0.02); os.write(2, raw[9:])
    ctx.log("info", "it is " + v, {"key": v})
    ctx.progress(1, 2, v)
    if input.get("fail"):
        raise ValueError("cannot log in with " + v + " or " + base64.b64encode(raw).decode())
    return {"key": v, "nested": [raw.hex(), {v: urllib.parse.quote(v)}]}
`},
		"bash": {"language": "bash", "code": `
printf '%s\n' "$KEY"; printf '%s' "$KEY" | base64; printf 'a%s' "$KEY" | base64 -w0; echo; printf 'aa%s' "$KEY" | base64 | tr '+/' '-_'
printf '%s' "$KEY" | od -An -tx1; printf '%q\n' "$KEY"
for ((i = 0; i < ${#KEY}; i++)); do printf '%s' "${KEY:i:1}"; done
echo "$KEY" >&2
[[ $(cat "$INPUT_FILE") == *true* ]] && { echo "cannot log in with $KEY" >&2; exit 3; }
printf '{"key":"%s"}' "$(printf '%s' "$KEY" | base64 -w0)" > "$OUTPUT"
`},
	}
}

// TestSecretsLeaveNoTrace stores a secret, and runs agents of every language that print the secret in many ways. Then
// it searches all stored data and all output of the server.
func TestSecretsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	for _, database := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(database), func(t *testing.T) {
			t.Parallel()
			flags := map[string]string{}
			if database == storetest.Postgres {
				flags["database"] = storetest.Options(t, storetest.Postgres).URL
			}
			s := servertest.New(t, servertest.Flags(t, flags))
			s.Want(t, 200, http.MethodPut, "/api/v1/secrets/KEY", map[string]string{"value": hidden})
			answers := map[string][]byte{}
			ask := func(method, path string, body any, headers ...servertest.Headers) servertest.Answer {
				answer := s.Want(t, 200, method, path, body, headers...)
				answers[method+" "+path] = append(answers[method+" "+path], answer.Body...)
				return answer
			}
			agents := telltales()
			agents["wasm"] = map[string]any{"language": "wasm", "files": module(t, "testdata/telltale")}
			for name, agent := range agents {
				agent["name"], agent["secrets"] = name, []string{"KEY"}
				s.Create(t, agent)
				s.Publish(t, name, "1.0.0")
				for i, fail := range []bool{false, true} {
					input := map[string]any{"fail": fail, "echo": hidden} // The caller may know the value and send it in the input.
					run := ask(http.MethodPost, "/api/v1/code-agents/"+name+"/execute", map[string]any{"version": "1.0.0", "input": input}, servertest.Headers{"Idempotency-Key": fmt.Sprint(name, i)}).Run(t)
					if run.Success == fail || !fail && !strings.Contains(string(run.Output), "***") || name != "wasm" && !strings.Contains(run.Stdout, "***") || !strings.Contains(run.Stderr, "***") {
						t.Errorf("%s: %s %+v\n%s\n%s\n%s", name, run.Status, run.Error, run.Output, run.Stdout, run.Stderr)
					}
					if fail && (run.Error == nil || name != "bash" && name != "wasm" && !strings.Contains(run.Error.Message, "***")) {
						t.Errorf("%s: %+v", name, run.Error)
					}
					ask(http.MethodGet, "/api/v1/runs/"+run.RunID, nil)
					ask(http.MethodGet, "/api/v1/runs/"+run.RunID+"/events", nil)
					ask(http.MethodGet, "/api/v1/runs/"+run.RunID+"/events", nil, servertest.Headers{"Accept": "text/event-stream"})
				}
				ask(http.MethodGet, "/api/v1/code-agents/"+name, nil)
				ask(http.MethodGet, "/api/v1/code-agents/"+name+"/versions/1.0.0/manifest?format=atelier", nil)
			}
			socket := s.Stream(t, follow(t, s, "python"), "")
			events, _ := socket.Rest(t) // Rest ends when the socket is closed.
			told, err := json.Marshal(events)
			if err != nil || len(events) < 5 {
				t.Fatal(len(events), err)
			}
			answers["socket"] = told
			for _, path := range []string{"/api/v1/secrets", "/api/v1/secrets/KEY/uses", "/api/v1/runs", "/api/v1/archive", "/metrics"} {
				ask(http.MethodGet, path, nil)
			}
			for from, text := range answers {
				clean(t, from, text)
			}
			s.Stop(t)
			clean(t, "the log", []byte(s.Log.String()))
			err = filepath.WalkDir(s.Data, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || !entry.Type().IsRegular() {
					return err
				}
				text, err := os.ReadFile(path)
				clean(t, path, text)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if database == storetest.Postgres {
				for table, text := range storetest.Dump(t, flags["database"]) {
					clean(t, table, text)
				}
			}
		})
	}
}

// module compiles a program to WebAssembly and returns its file in API format.
func module(t *testing.T, folder string) map[string]any {
	t.Helper()
	path := filepath.Join(t.TempDir(), "main.wasm")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, ".")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"main.wasm": map[string]string{"base64": base64.StdEncoding.EncodeToString(text)}}
}

// TestSecretsOfCrashes checks that programs of every language that crash while printing the secret leave no trace of it
// in the log and the database.
func TestSecretsOfCrashes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Want(t, 200, http.MethodPut, "/api/v1/secrets/KEY", map[string]string{"value": hidden})
	agents := map[string]map[string]any{
		"goja-parser": {"language": "javascript", "runtime": "goja", "code": "export default (input, ctx) => eval(JSON.stringify(ctx.env.KEY) + '+' + '('.repeat(3e6))"},
		"goja-throw":  {"language": "javascript", "runtime": "goja", "code": "export default (input, ctx) => { throw new Proxy({}, { get() { throw ctx.env.KEY } }) }"},
		"node-abort":  {"language": "javascript", "runtime": "node", "code": "import fs from 'node:fs'\nexport default (input, ctx) => { fs.writeSync(2, ctx.env.KEY); process.abort() }"},
		"node-late":   {"language": "javascript", "runtime": "node", "code": "import fs from 'node:fs'\nexport default (input, ctx) => { setImmediate(() => { fs.writeSync(2, ctx.env.KEY); process.abort() }); return 1 }"},
		"python-segv": {"language": "python", "code": "import os, signal\ndef main(input, ctx):\n    os.write(2, ctx.env['KEY'].encode())\n    os.kill(os.getpid(), signal.SIGSEGV)\n    import ctypes; ctypes.string_at(0)\n"},
		"python-exit": {"language": "python", "code": "import os\ndef main(input, ctx):\n    os.write(3, ctx.env['KEY'].encode())\n    os.write(2, ctx.env['KEY'].encode())\n    os._exit(9)\n"},
		"bash":        {"language": "bash", "code": "printf '%s\\n' \"$KEY\" >&3; echo \"$KEY\" >&2; kill -SEGV $$; kill -9 $$\n"},
		"wasm":        {"language": "wasm", "files": module(t, "testdata/telltale")},
	}
	for name, agent := range agents {
		agent["name"], agent["secrets"] = name, []string{"KEY"}
		s.Create(t, agent)
		for range 2 { // The second run could find data that the first run did not remove.
			run := s.Execute(t, name, "draft", map[string]any{"fail": true})
			if run.Success && name != "node-late" {
				t.Errorf("%s survived: %s", name, run.Output)
			}
		}
	}
	s.Stop(t)
	if !strings.Contains(s.Log.String(), "worker ended unexpectedly") {
		t.Error("no worker ended: there was nothing to log")
	}
	clean(t, "the log", []byte(s.Log.String()))
	for _, pattern := range []string{"*", "*/*"} {
		files, err := filepath.Glob(filepath.Join(s.Data, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if text, err := os.ReadFile(path); err == nil {
				clean(t, path, text)
			}
		}
	}
}

// follow starts a run and watches its events.
func follow(t *testing.T, s *servertest.Server, agent string) string {
	t.Helper()
	return s.Want(t, 202, http.MethodPost, "/api/v1/code-agents/"+agent+"/execute", map[string]any{"version": "1.0.0", "input": map[string]any{}}, servertest.Headers{"Prefer": "respond-async"}).Run(t).RunID
}

func TestSecretsOfAnAgentGoFirst(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"script-runtime": "true"}))
	code := map[string]any{"language": "bash", "runtime": "script", "code": "print said\nenvironment\n", "secrets": []string{"KEY", "TOKEN"}, "environment": map[string]string{"UNITS": "metric"}}
	for _, name := range []string{"one", "two"} {
		code["name"] = name
		s.Create(t, code)
	}
	problem := s.Want(t, 409, http.MethodPost, "/api/v1/code-agents/one/execute", map[string]any{"version": "draft"}).Problem(t)
	if problem.Code != fault.SecretMissing || !strings.Contains(problem.Detail, "KEY, TOKEN") || !strings.Contains(problem.Detail, "atelier secrets set KEY") {
		t.Errorf("%+v", problem)
	}
	for path, value := range map[string]string{"KEY": "of the workspace", "KEY?agent=one": "of agent one", "TOKEN": "a token of all", "OTHER": "is not declared"} {
		s.Want(t, 200, http.MethodPut, "/api/v1/secrets/"+path, map[string]string{"value": value})
	}
	run := s.Execute(t, "one", "draft", map[string]any{})
	if got := string(run.Output); got != `{"KEY":"***","TOKEN":"***","UNITS":"metric"}` {
		t.Errorf("%s", got)
	}
	s.Execute(t, "two", "draft", map[string]any{})
	var list struct {
		Items []struct {
			Name, Agent, SetBy string
			LastUsedAt         *string
			UsedBy             []struct{ Agent, Version string }
		}
	}
	s.Want(t, 200, http.MethodGet, "/api/v1/secrets", nil).Into(t, &list)
	told := ""
	for _, one := range list.Items {
		told += fmt.Sprintln(one.Name, one.Agent, one.LastUsedAt != nil, one.UsedBy)
	}
	if want := "KEY  true [{two draft}]\nKEY one true [{one draft}]\nOTHER  false []\nTOKEN  true [{one draft} {two draft}]\n"; told != want {
		t.Errorf("%s, want\n%s", told, want)
	}
	var uses struct {
		Items []struct{ RunID, Agent, Version, At string }
	}
	s.Want(t, 200, http.MethodGet, "/api/v1/secrets/KEY/uses?agent=one", nil).Into(t, &uses)
	if len(uses.Items) != 1 || uses.Items[0].RunID != run.RunID || uses.Items[0].Agent != "one" || uses.Items[0].Version != "draft" {
		t.Errorf("%+v", uses)
	}
	s.Want(t, 204, http.MethodDelete, "/api/v1/secrets/TOKEN", nil)
	s.Want(t, 404, http.MethodDelete, "/api/v1/secrets/TOKEN", nil)
	s.Want(t, 409, http.MethodPost, "/api/v1/code-agents/one/execute", map[string]any{"version": "draft"})
}

func TestSecretsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for name, tt := range map[string]struct {
		path    string
		body    any
		pointer string
		status  int
	}{
		"no value":        {"KEY", map[string]any{}, "", 422},
		"blank":           {"KEY", map[string]any{"value": " \n        "}, "/value", 422},
		"short":           {"KEY", map[string]any{"value": "1234567"}, "/value", 422},
		"short in spaces": {"KEY", map[string]any{"value": "  1234567  "}, "/value", 422},
		"long":            {"KEY", map[string]any{"value": strings.Repeat("x", 16<<10+1)}, "/value", 422},
		"null character":  {"KEY", map[string]any{"value": "hunter2\x00hunter2"}, "/value", 422},
		"reserved":        {"LD_PRELOAD", map[string]any{"value": "hunter2hunter2"}, "/name", 422},
		"name":            {"a-b", map[string]any{"value": "hunter2hunter2"}, "/name", 422},
		"agent":           {"KEY?agent=nobody", map[string]any{"value": "hunter2hunter2"}, "", 404},
		"wildcard host":   {"KEY", map[string]any{"value": "hunter2hunter2", "bind": map[string]string{"host": "*.example.com:443", "header": "X-Key"}}, "/bind/host", 422},
		"no port":         {"KEY", map[string]any{"value": "hunter2hunter2", "bind": map[string]string{"host": "example.com", "header": "X-Key"}}, "/bind/host", 422},
		"no header":       {"KEY", map[string]any{"value": "hunter2hunter2", "bind": map[string]string{"host": "example.com:443", "header": "a b"}}, "/bind/header", 422},
		"header of ours":  {"KEY", map[string]any{"value": "hunter2hunter2", "bind": map[string]string{"host": "example.com:443", "header": "host"}}, "/bind/header", 422},
		"format":          {"KEY", map[string]any{"value": "hunter2hunter2", "bind": map[string]string{"host": "example.com:443", "header": "X-Key", "format": "Bearer"}}, "/bind/format", 422},
		"two lines":       {"KEY", map[string]any{"value": "hunter2\nhunter2", "bind": map[string]string{"host": "example.com:443", "header": "X-Key"}}, "/value", 422},
	} {
		answer := s.Want(t, tt.status, http.MethodPut, "/api/v1/secrets/"+tt.path, tt.body)
		problem := answer.Problem(t)
		if tt.pointer != "" && (len(problem.Errors) != 1 || problem.Errors[0].Pointer != tt.pointer) || strings.Contains(string(answer.Body), "hunter2") {
			t.Errorf("%s: %s", name, answer.Body)
		}
	}
	if strings.Contains(s.Log.String(), "hunter2") {
		t.Error("the log has a value")
	}
}

// TestBoundSecrets checks that the host receives a bound secret, and that no program can read the secret.
func TestBoundSecrets(t *testing.T) {
	t.Parallel()
	var seen []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("X-Api-Key"))
		fmt.Fprint(w, r.Header) // The server returns all headers of the request.
	}))
	defer site.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header) }))
	defer other.Close()
	host := site.Listener.Addr().String()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"egress-hosts": host + "," + other.Listener.Addr().String()}))
	s.Want(t, 200, http.MethodPut, "/api/v1/secrets/KEY", map[string]any{"value": hidden, "bind": map[string]string{"host": host, "header": "x-api-key", "format": "Key {value}"}})
	agents := map[string]map[string]any{
		"goja": {"language": "javascript", "runtime": "goja", "code": `export default async ({site, other}, ctx) => {
		  const said = []
		  for (const url of [site, other]) said.push([...(await (await fetch(url, {headers: {'X-API-KEY': 'mine'}})).text())].join('|'))
		  return { env: ctx.env.KEY ?? null, said }
		}`},
		"python": {"language": "python", "code": `
import glob, os, urllib.request
def main(input, ctx):
    said = []
    for url in (input["site"], input["other"]):
        for text in (urllib.request.urlopen(urllib.request.Request(url, headers={"X-Api-Key": "mine"})).read().decode(), ctx.fetch(url).text()):
            said.append("|".join(text))
    for path in glob.glob("/proc/*/environ"):
        try:
            said.append(open(path, errors="replace").read())
        except OSError:
            pass
    return {"env": os.environ.get("KEY"), "said": said}
`},
	}
	input := map[string]string{"site": site.URL + "/", "other": other.URL + "/"}
	for name, agent := range agents {
		agent["name"], agent["secrets"] = name, []string{"KEY"}
		s.Create(t, agent)
		execute := "/api/v1/code-agents/" + name + "/execute"
		problem := s.Want(t, 409, http.MethodPost, execute, map[string]any{"version": "draft", "input": input}).Problem(t)
		if !strings.Contains(problem.Detail, "KEY is bound to "+host) || !strings.Contains(problem.Detail, "capabilities.hosts") {
			t.Errorf("%+v", problem)
		}
		s.Want(t, 200, http.MethodPut, "/api/v1/code-agents/"+name, map[string]any{"capabilities": map[string]any{"hosts": []string{host, other.Listener.Addr().String()}}}, servertest.Headers{"If-Match": `"1"`})
		seen = nil
		run := s.Execute(t, name, "draft", input)
		if !run.Success || !strings.Contains(string(run.Output), `"env":null`) || !strings.Contains(string(run.Output), "*|*|*") || !strings.Contains(string(run.Output), "m|i|n|e") {
			t.Errorf("%s: %+v %s", name, run.Error, run.Output)
		}
		// The program splits the text that it received. It cannot print text that it never received.
		if text := strings.ReplaceAll(string(run.Output), "|", ""); strings.Contains(text, "t0p") || strings.Contains(text, "Secret+") {
			t.Errorf("%s was told: %s", name, text)
		}
		for _, got := range seen {
			if got != "Key "+hidden {
				t.Errorf("%s: the host was sent %q", name, got)
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s: nobody came", name)
		}
	}
}
