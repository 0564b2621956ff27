package hostile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// doubling returns a schema in which each of n levels refers twice to the next level. The last level is a pattern.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$defs":{"d0":{"pattern":"^a"}`)
	for i := range n {
		fmt.Fprintf(&b, `,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	fmt.Fprintf(&b, `},"$ref":"#/$defs/d%d"}`, n)
	return b.String()
}

// counted is a pattern that counts its evaluations.
type counted struct {
	*regexp.Regexp
	asked *int
}

func (c counted) MatchString(text string) bool {
	*c.asked++
	return c.Regexp.MatchString(text)
}

func TestHostileSchemas(t *testing.T) {
	t.Parallel()
	readFresh()
	control(t, hostile.SchemaBombs, func(t *testing.T) {
		asked := 0
		compiler := jsonschema.NewCompiler()
		compiler.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) {
			re, err := regexp.Compile(text)
			return counted{re, &asked}, err
		})
		bomb, err := jsonschema.UnmarshalJSON(strings.NewReader(doubling(12)))
		if err != nil {
			t.Fatal(err)
		}
		canary := filepath.Join(t.TempDir(), "canary.json")
		if err := os.WriteFile(canary, []byte(`{"const":"of the host"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		reader := map[string]any{"$ref": "file://" + canary}
		if err := errors.Join(compiler.AddResource("https://a.invalid/bomb", bomb), compiler.AddResource("https://a.invalid/reader", reader)); err != nil {
			t.Fatal(err)
		}
		compiled, err := compiler.Compile("https://a.invalid/bomb")
		if err != nil {
			t.Fatal(err)
		}
		asked = 0
		if err := compiled.Validate("a"); err != nil || asked < 1<<12 {
			t.Errorf("a validator without the protection evaluates the pattern %d times: %v", asked, err)
		}
		reads, err := compiler.Compile("https://a.invalid/reader")
		if err != nil || reads.Validate("of the host") != nil {
			t.Errorf("a compiler without the protection does not read the file: %v", err)
		}
	})

	many := func(n int, each func(int) string) string {
		var all []string
		for i := range n {
			all = append(all, each(i))
		}
		return strings.Join(all, ",")
	}
	for name, text := range map[string]string{
		"itself":                `{"$ref":"#"}`,
		"itself by a detour":    `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}},"items":{"$ref":"#/$defs/a"}}`,
		"itself by a condition": `{"if":{"$ref":"#"}}`,
		"itself dynamically":    `{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}`,
		"doubled 24 times":      doubling(24),
		"doubled 120 times":     doubling(120),
		"ten to the tenth": `{"$ref":"#/$defs/d0","$defs":{` + many(10, func(i int) string {
			return fmt.Sprintf(`"d%d":{"anyOf":[%s]}`, i, many(10, func(int) string { return fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1) }))
		}) + `,"d10":{}}}`,
		"a chain of references":       `{"$ref":"#/$defs/d0","$defs":{` + many(1000, func(i int) string { return fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1) }) + `,"d1000":{}}}`,
		"nested 10,000 deep":          strings.Repeat(`{"items":`, 10_000) + "{}" + strings.Repeat("}", 10_000),
		"nested without an end":       strings.Repeat(`{"not":`, 30_000),
		"10,000 schemas":              `{"allOf":[` + many(10_000, func(int) string { return "{}" }) + `]}`,
		"10,000 properties":           `{"properties":{` + many(10_000, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}`,
		"an enum of 100,000":          `{"enum":[` + many(20_000, func(i int) string { return fmt.Sprint(i) }) + `]}`,
		"300 names":                   `{"allOf":[` + many(300, func(i int) string { return fmt.Sprintf(`{"$id":"n%d"}`, i) }) + `]}`,
		"references to odd locations": `{"allOf":[` + many(100, func(i int) string { return fmt.Sprintf(`{"$ref":"#/x/%d"}`, i) }) + `],"x":[` + many(100, func(int) string { return "{}" }) + `]}`,
		"a megabyte":                  `{"title":"` + strings.Repeat("x", 1<<20) + `"}`,
		"a number of a million":       `{"minimum":1e1000000}`,
		"a number of many digits":     `{"multipleOf":0.` + strings.Repeat("1", 100_000) + `}`,
		"a pattern written out":       `{"pattern":"` + strings.Repeat("(a{1,1000})", 20) + `"}`,
		"a pattern of brackets":       `{"pattern":"` + strings.Repeat("(", 1_900) + `"}`,
		"a long pattern":              `{"pattern":"` + strings.Repeat("a", 100_000) + `"}`,
		"a key twice":                 `{"type":"object","type":"array"}`,
		"a file of the host":          `{"$ref":"file:///etc/passwd"}`,
		"a nearby file":               `{"items":{"$ref":"../../etc/passwd"}}`,
		"another host":                `{"$ref":"http://169.254.169.254/latest/meta-data"}`,
		"another host by its $id":     `{"$id":"http://127.0.0.1:1/","items":{"$ref":"x.json"}}`,
		"another language of itself":  `{"$schema":"http://127.0.0.1:1/schema"}`,
	} {
		egressAttack(t, hostile.SchemaBombs, name, func(t *testing.T) {
			_, err := schema.Compile([]byte(text)) // must return in time
			if !fault.Is(err, fault.InvalidInput) {
				t.Errorf("taken: %v", err)
			}
		})
	}
	for name, tt := range map[string]struct{ schema, document string }{
		"a pattern that backtracks":                      {`{"pattern":"^(?=a)(a+)+$"}`, `"` + strings.Repeat("a", 5000) + `!"`},
		"a pattern that backtracks in a thousand values": {`{"items":{"pattern":"^(?=a)(a+)+$"}}`, `[` + many(1000, func(int) string { return `"` + strings.Repeat("a", 26) + `!"` }) + `]`},
		"a pattern that backtracks in names":             {`{"patternProperties":{"^(?=a)(a+)+$":{}}}`, `{"` + strings.Repeat("a", 5000) + `!":1}`},
		"recursion in two places":                        {`{"items":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"null"}]},"maxItems":1}`, strings.Repeat("[", 200) + "1,2" + strings.Repeat("]", 200)},
		"equal values among 50,000":                      {`{"uniqueItems":true}`, `[` + many(50_000, func(i int) string { return fmt.Sprintf(`{"a":%d}`, i) }) + `,{"a":7.0}]`},
		"a pattern in a pattern":                         {`{"pattern":"^((a{1,1000}){1,1000}){1,1000}$"}`, `"` + strings.Repeat("a", 5000) + `!"`},
		"many schemas for many values":                   {`{"allOf":[` + many(1900, func(int) string { return `{"additionalProperties":{}}` }) + `]}`, `{` + many(50_000, func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + `}`},
		"a multiple among many digits":                   {`{"multipleOf":3}`, strings.Repeat("9", 1_000_000)},
		"a document without an end":                      {`{"type":"object"}`, strings.Repeat(`{"a":`, 1_000_000)},
		"a key twice in the document":                    {`{"type":"object"}`, `{"a":1,"a":2}`},
		"a document with half a document":                {`{"type":"object"}`, `{} {`},
	} {
		egressAttack(t, hostile.SchemaBombs, name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			if details := s.Validate([]byte(tt.document)); len(details) == 0 || len(details) > schema.MaxDetails {
				t.Errorf("%d problems", len(details))
			}
		})
	}
}

func TestHostilePaths(t *testing.T) {
	t.Parallel()
	s := serve(t)
	secretFile := filepath.Join(s.Data, "secret")
	if err := os.WriteFile(secretFile, []byte("of the house"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := []string{
		"../x", "../../x", "a/../../x", "a/../x", "./x", "a/./x", "a//x", "/x", "//x", "/etc/passwd", "..", ".", "", "a/", "a/..", "../" + filepath.Base(s.Data) + "/secret",
		"..\\x", "C:\\x", "C:x", "\\\\host\\x", "a\x00b", "main.sh\x00.png", "a\nb", "a\tb", "a\x1b[31m", "a\u202eb", "a\u200bb", "a\u2028b", "\ufeffa", "a\u00a0b",
		strings.Repeat("a", 256), strings.Repeat("a/", 200) + "x", strings.Repeat("../", 80) + "etc/passwd", "\xff", "a\xc0\xafb", "%2e%2e\\x",
	}
	control(t, hostile.Paths, func(t *testing.T) {
		box := filepath.Join(t.TempDir(), "a", "b")
		if err := os.MkdirAll(box, 0o700); err != nil {
			t.Fatal(err)
		}
		var escaped []string
		for _, name := range outside {
			if path := filepath.Join(box, name); !strings.HasPrefix(path+"/", box+"/") {
				escaped = append(escaped, name)
			}
		}
		if err := os.WriteFile(filepath.Join(box, "../x"), []byte("x"), 0o600); err != nil || len(escaped) < 6 || !slices.Contains(escaped, "a/../../x") {
			t.Errorf("without the protection %q are outside the folder, %v", escaped, err)
		}
	})
	for _, name := range outside {
		egressAttack(t, hostile.Paths, fmt.Sprintf("a file %.40q", name), func(t *testing.T) {
			if new(registry.Paths).Add(name) == "" {
				t.Error("taken")
			}
			files, err := json.Marshal(map[string]any{"language": "bash", "runtime": "script", "files": map[string]string{"main.sh": "output 1", name: "x"}})
			if err != nil {
				t.Fatal(err)
			}
			text := string(files)
			if !utf8.ValidString(name) { // the encoder would replace invalid characters
				text = `{"language":"bash","runtime":"script","files":{"main.sh":"output 1","` + name + `":"x"}}`
			}
			if status := try(t, s, http.MethodPost, "/api/v1/execute", text); status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
				t.Errorf("answered with %d", status)
			}
		})
	}
	for _, path := range []string{
		"/studio/../../../../etc/passwd", "/studio/..%2f..%2f..%2fetc/passwd", "/studio/%2e%2e/%2e%2e/etc/passwd", "/studio/assets/..%5c..%5csecret", "/studio//etc/passwd",
		"/studio/assets/%00", "/studio/assets/../../secret", "/studio/.%00./secret", "/api/v1/runs/..%2f..%2fsecret", "/api/v1/code-agents/..%2f..%2fsecret", "/../secret", "/%2e%2e/secret",
	} {
		egressAttack(t, hostile.Paths, "an address "+path, func(t *testing.T) {
			status, body := raw(t, address(s), "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+secretToken+"\r\nConnection: close\r\n\r\n")
			if strings.Contains(body, "of the house") || strings.Contains(body, "root:") || status >= http.StatusInternalServerError {
				t.Errorf("%d %.200s", status, body)
			}
		})
	}
	folder, err := blobs.Open(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{"", "sha256:", "sha256:../../secret", "../../secret", "sha256:" + strings.Repeat("../", 21) + "x", "sha256:" + strings.Repeat("A", 64), "sha256:" + strings.Repeat("0", 64) + "/x", "sha256:" + strings.Repeat("0", 63) + "\x00"} {
		egressAttack(t, hostile.Paths, fmt.Sprintf("a blob %.40q", digest), func(t *testing.T) {
			if _, err := folder.Get(t.Context(), digest, digest); !fault.Is(err, fault.NotFound) {
				t.Errorf("got %v", err)
			}
		})
	}
	works(t, s)
}

// TestHostilePathsInTheJail checks that the sandbox writes no file outside its folder, even for paths that no API
// accepts.
func TestHostilePathsInTheJail(t *testing.T) {
	t.Parallel()
	h := open(t, runtimes.Bash, pathsServer)
	for _, name := range []string{"../x", "../../etc/passwd", "/etc/passwd", "a/../../x", "..", strings.Repeat("a", 300), "a\x00b", "main.sh/x"} {
		egressAttack(t, hostile.Paths, fmt.Sprintf("in the jail %.40q", name), func(t *testing.T) {
			job := h.programs.Job("ls -A / >&2; echo 1")
			job.Files[name] = []byte("x")
			outcome, err := h.Run(t.Context(), job, runtimetest.NewHost())
			if err == nil && outcome.Error == nil {
				t.Errorf("taken: %s", outcome.Output)
			}
			h.hello(t)
			h.noRemains(t)
		})
	}
}
