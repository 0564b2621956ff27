package guest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/nlnwa/whatwg-url/url" // its module contains the web-platform tests

	"github.com/atelier-run/atelier/runtimes/goja/guest"
)

// platformTests returns a file of the web-platform tests as JSON text. The module of the URL parser contains them, so the
// repository needs no copy.
func platformTests(t *testing.T, name string) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/nlnwa/whatwg-url/url").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestURLPlatformTests runs the web-platform tests of URLs. Node 20 passes all of them.
func TestURLPlatformTests(t *testing.T) {
	t.Parallel()
	const parsing = `export default (cases) => {
  const wrong = []
  let ran = 0
  for (const c of cases) {
    if (typeof c === "string") continue
    ran++
    let url
    const base = c.base ?? undefined
    if (URL.canParse(c.input, base) === Boolean(c.failure)) wrong.push(["canParse", c])
    try { url = new URL(c.input, base) } catch (e) { if (!c.failure || e.code !== "ERR_INVALID_URL") wrong.push([String(e), c]); continue }
    if (c.failure) { wrong.push([url.href, c]); continue }
    for (const key of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]) {
      if (key in c && url[key] !== c[key]) wrong.push([key, url[key], c])
    }
    if ("searchParams" in c && String(url.searchParams) !== c.searchParams) wrong.push(["searchParams", String(url.searchParams), c])
    if (new URL(url.href).href !== url.href) wrong.push(["again", new URL(url.href).href, c])
  }
  return { ran, wrong: wrong.slice(0, 20) }
}`
	const setting = `export default (all) => {
  const wrong = []
  let ran = 0
  for (const part of Object.keys(all)) {
    if (part === "comment") continue
    for (const c of all[part]) {
      ran++
      const url = new URL(c.href)
      url[part] = c.new_value
      for (const key of Object.keys(c.expected)) if (url[key] !== c.expected[key]) wrong.push([part, key, url[key], c])
    }
  }
  return { ran, wrong: wrong.slice(0, 20) }
}`
	s := newServer(t)
	for file, tt := range map[string]struct{ program, want string }{
		"urltestdata.json":   {parsing, `{"ran":820,"wrong":[]}`},
		"setters_tests.json": {setting, `{"ran":248,"wrong":[]}`},
	} {
		if got := s.run(js(tt.program, platformTests(t, file))); got.Error != nil || string(got.Output) != tt.want {
			t.Errorf("%s: %.4000s %s", file, got.Output, text(got.Error))
		}
	}
}

// TestURL checks the interface of the two classes against the answers of Node 20.
func TestURL(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`new URL("https://e.com/a/b/").href`:                                                `"https://e.com/a/b/"`,
		`new URL("../c?q", "https://e.com/a/b/d").href`:                                     `"https://e.com/a/c?q"`,
		`new URL("https://e.com/a%2Fb").pathname`:                                           `"/a%2Fb"`,
		`new URL("https://e.com:8443/").origin`:                                             `"https://e.com:8443"`,
		`(() => { const u = new URL("https://e.com/"); u.search = "?y"; return u.href })()`: `"https://e.com/?y"`,
		`(() => { const u = new URL("https://e.com/?a=1"); u.searchParams.append("b", "ü &"); return [u.href, u.search] })()`:                                    `["https://e.com/?a=1&b=%C3%BC+%26","?a=1&b=%C3%BC+%26"]`,
		`(() => { const u = new URL("https://e.com/?a=1"); const p = u.searchParams; u.search = "b=2"; u.hash = "x"; return [[...p], p === u.searchParams] })()`: `[[["b","2"]],true]`,
		`(() => { const u = new URL("https://e.com/?a=1"); const p = u.searchParams; u.href = "http://x/?c"; p.set("d", "1"); return u.href })()`:                `"http://x/?c=&d=1"`,
		`(() => { const u = new URL("https://e.com/?a=1"); u.searchParams.delete("a"); return u.href })()`:                                                       `"https://e.com/"`,
		`(() => { const seen = []; new URLSearchParams("a=1&b=2").forEach(function (v, k, p) { seen.push(v, k, p.size, this) }, 7); return seen })()`:            `["1","a",2,7,"2","b",2,7]`,
		`[URL.canParse("https://x"), URL.canParse("x"), URL.canParse("x", "https://y/z"), URL.parse("x")]`:                                                       `[true,false,true,null]`,
		`[...new URLSearchParams([["b", 1], ["a", 2], ["b", 3]])].join(";")`:                                                                                     `"b,1;a,2;b,3"`,
		`(() => { const p = new URLSearchParams("?z=1&a=2&z=0"); p.sort(); p.set("z", 9); return [String(p), p.has("z", "9"), p.has("z", "1"), p.size] })()`:     `["a=2&z=9",true,false,2]`,
		`String(new URLSearchParams({ "a b": "*-._~'()!", c: undefined, "ü": "\ud800" }))`:                                                                       `"a+b=*-._%7E%27%28%29%21&c=undefined&%C3%BC=%EF%BF%BD"`,
		`new URLSearchParams("a=%zz&b=%F0%9F%92x&c=1+2&=d&&e").toString()`:                                                                                       `"a=%25zz&b=%EF%BF%BDx&c=1+2&=d&e="`,
		`JSON.stringify({ u: new URL("http://a") })`:                                                                                                             `"{\"u\":\"http://a/\"}"`,
		`[String(new URL("http://a")), Object.prototype.toString.call(new URL("http://a")), Object.keys(new URL("http://a"))]`:                                   `["http://a/","[object URL]",[]]`,
		`(() => { try { new URL("/x", "y") } catch (e) { return [e.name, e.code, e.message, e.input, e.base] } })()`:                                             `["TypeError","ERR_INVALID_URL","Invalid URL","/x","y"]`,
		`(() => { try { new URLSearchParams([["a"]]) } catch (e) { return [e.name, e.code] } })()`:                                                               `["TypeError","ERR_INVALID_TUPLE"]`,
		`(() => { const i = new URLSearchParams("a=1").keys(); return [Object.prototype.toString.call(i), i.next(), i.next(), i[Symbol.iterator]() === i] })()`:  `["[object URLSearchParams Iterator]",{"value":"a","done":false},{"done":true},true]`,
		`(() => { class Mine extends URL { get twice() { return this.href + this.href } } return new Mine("a:b").twice })()`:                                     `"a:ba:b"`,
	}
	s := newServer(t)
	for expression, want := range tests {
		if got := s.run(evaluate(expression)); got.Error != nil || string(got.Output) != want {
			t.Errorf("%s\n got %s %s\nwant %s", expression, got.Output, text(got.Error), want)
		}
	}
	shown := s.run(guest.Job(js(`export default () => { console.log(new URL("https://u:p@h:1/p?q#f")); console.log(new URLSearchParams("a=1&b=it's"), new URLSearchParams(), { u: { u: { u: new URL("http://a") } } }) }`, "null")))
	want := strings.TrimSpace(`
URL {
  href: 'https://u:p@h:1/p?q#f',
  origin: 'https://h:1',
  protocol: 'https:',
  username: 'u',
  password: 'p',
  host: 'h:1',
  hostname: 'h',
  port: '1',
  pathname: '/p',
  search: '?q',
  searchParams: URLSearchParams { 'q' => '' },
  hash: '#f'
}
URLSearchParams { 'a' => '1', 'b' => "it's" } URLSearchParams {} { u: { u: { u: URL {} } } }`)
	if strings.TrimSpace(shown.stdout) != want {
		t.Errorf("shown as %s %s", shown.stdout, text(shown.Error))
	}
}
