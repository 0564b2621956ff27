package skills_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes"
)

const settings = `name: greet
version: 1.0.0
description: Greets somebody.
safety_flags:
  - none
requires_approval: false
handler: handler.greet
tags:
  - text
limits:
  timeout_ms: 5000
`

const schemas = `{
  "input": {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"]
  },
  "output": {"type": "object"}
}
`

func folder(changes map[string]string) map[string]registry.File {
	files := map[string]registry.File{
		"skill.yaml": registry.File(settings), "schema.json": registry.File(schemas),
		"handler.py": registry.File("def greet(name):\n    return {'text': name}\n"), "README.md": registry.File("# greet"),
		"tests/test_greet.py": registry.File("assert True\n"), "words.txt": registry.File("hello"),
	}
	for name, content := range changes {
		if content == "" {
			delete(files, name)
			continue
		}
		files[name] = registry.File(content)
	}
	return files
}

func TestAFolderBecomesASpec(t *testing.T) {
	t.Parallel()
	s, err := skills.Parse(folder(nil))
	if err != nil {
		t.Fatal(err)
	}
	if s.Spec.Language != runtimes.Python || s.Spec.Entrypoint != "skill_entry.py" || s.Spec.Limits.TimeoutMs != 5000 {
		t.Errorf("spec %+v", s.Spec)
	}
	var names []string
	for name := range s.Spec.Files {
		names = append(names, name)
	}
	if len(names) != 3 {
		t.Errorf("the program has %v, want handler.py, skill_entry.py and words.txt", names)
	}
	if !bytes.Contains(s.Spec.Files["skill_entry.py"], []byte("from .handler import greet as _function")) {
		t.Errorf("the entry is %s", s.Spec.Files["skill_entry.py"])
	}
	for _, text := range []json.RawMessage{s.Spec.InputSchema, s.Spec.OutputSchema} {
		if _, err := schema.Compile(text); err != nil || !bytes.Contains(text, []byte("draft-07")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnEmptySchemaGetsItsDialect(t *testing.T) {
	t.Parallel()
	s, err := skills.Parse(folder(map[string]string{"schema.json": `{"input": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}, "output": {} }`}))
	if err != nil || string(s.Spec.OutputSchema) != `{"$schema":"http://json-schema.org/draft-07/schema#"}` || strings.Contains(string(s.Spec.InputSchema), "draft-07") {
		t.Fatalf("%s %s %v", s.Spec.InputSchema, s.Spec.OutputSchema, err)
	}
}

func TestAHandlerWithoutAFunctionIsAProgram(t *testing.T) {
	t.Parallel()
	s, err := skills.Parse(folder(map[string]string{"skill.yaml": strings.Replace(settings, "handler.greet", "handler", 1)}))
	if err != nil || s.Spec.Entrypoint != "handler.py" || len(s.Spec.Files) != 2 {
		t.Fatalf("%+v %v", s.Spec, err)
	}
}

func TestEveryLanguageHasACaller(t *testing.T) {
	t.Parallel()
	for suffix, want := range map[string]string{
		".js": `import { greet as handler } from "./lib/core.js"`, ".ts": `from "./lib/core"`, ".sh": ". ./lib/core.sh", ".py": "from .lib.core import greet",
	} {
		files := folder(map[string]string{"handler.py": "", "lib/core" + suffix: "x", "skill.yaml": strings.Replace(settings, "handler.greet", "lib.core.greet", 1)})
		s, err := skills.Parse(files)
		if err != nil || !strings.Contains(string(s.Spec.Files["skill_entry"+suffix]), want) {
			t.Errorf("%s: %s %v", suffix, s.Spec.Files["skill_entry"+suffix], err)
		}
	}
}

func TestWhatIsWrongHasAFileAndALine(t *testing.T) {
	t.Parallel()
	long := "x" + strings.Repeat("y", skills.MaxSettings)
	for name, tt := range map[string]struct {
		changes map[string]string
		want    string
	}{
		"no settings":         {map[string]string{"skill.yaml": ""}, "skill.yaml:0 is missing"},
		"no schemas":          {map[string]string{"schema.json": ""}, "schema.json:0 is missing"},
		"no handler":          {map[string]string{"handler.py": ""}, "skill.yaml:7 has the handler handler.greet"},
		"two handlers":        {map[string]string{"handler.js": "x"}, "skill.yaml:7 has the handler"},
		"version is a number": {map[string]string{"skill.yaml": strings.Replace(settings, "1.0.0", "1.0", 1)}, "skill.yaml:2 version"},
		"version":             {map[string]string{"skill.yaml": strings.Replace(settings, "1.0.0", "v1", 1)}, "skill.yaml:2 version"},
		"name":                {map[string]string{"skill.yaml": strings.Replace(settings, "greet\n", "Greet\n", 1)}, "skill.yaml:1 name"},
		"code in the handler": {map[string]string{"skill.yaml": strings.Replace(settings, "handler.greet", `"handler.x as y\nimport os"`, 1)}, "skill.yaml:7 handler"},
		"climbing handler":    {map[string]string{"skill.yaml": strings.Replace(settings, "handler.greet", "../x.greet", 1)}, "skill.yaml:7 handler"},
		"flag":                {map[string]string{"skill.yaml": strings.Replace(settings, "- none", "- fine", 1)}, "skill.yaml:5 safety_flags.0"},
		"misspelt":            {map[string]string{"skill.yaml": settings + "safety_flag: [none]\n"}, "skill.yaml:12 has the unknown field safety_flag"},
		"twice":               {map[string]string{"skill.yaml": settings + "name: other\n"}, "skill.yaml:12 has the duplicate name name"},
		"alias":               {map[string]string{"skill.yaml": settings + "a: &a [x]\nb: *a\n"}, "skill.yaml:12 must not have anchors"},
		"billion laughs":      {map[string]string{"skill.yaml": laughs()}, "skill.yaml:1 must not have anchors"},
		"merge":               {map[string]string{"skill.yaml": settings + "<<: {name: x}\n"}, "skill.yaml:12 must have plain strings"},
		"tag":                 {map[string]string{"skill.yaml": settings + "x: !!python/object:os.system 1\n"}, "skill.yaml:12 has a value of the unsupported type"},
		"two documents":       {map[string]string{"skill.yaml": settings + "---\nname: x\n"}, "skill.yaml:"},
		"not yaml":            {map[string]string{"skill.yaml": "name: [\n"}, "skill.yaml:"},
		"a list":              {map[string]string{"skill.yaml": "- a\n"}, "skill.yaml:1 must be a list of NAME"},
		"huge":                {map[string]string{"skill.yaml": long}, "skill.yaml:0 must have at most"},
		"deep":                {map[string]string{"skill.yaml": settings + "x: " + strings.Repeat("[", 100) + strings.Repeat("]", 100)}, "skill.yaml:12 must be nested at most"},
		"not json":            {map[string]string{"schema.json": "{\n\"input\": {},\n oops }"}, "schema.json:3"},
		"same key":            {map[string]string{"schema.json": "{\"input\": {},\n\"input\": {}}"}, "schema.json:2"},
		"no output":           {map[string]string{"schema.json": `{"input": {}}`}, "schema.json:1 must have the member output"},
		"entry is taken":      {map[string]string{"skill_entry.py": "x"}, "skill_entry.py:0 is reserved"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := skills.Parse(folder(tt.changes))
			if got := describe(err); !strings.Contains(got, tt.want) {
				t.Errorf("error %q, want %q", got, tt.want)
			}
		})
	}
}

func laughs() string {
	text := "a: &a [lol]\n"
	for c := 'b'; c < 'k'; c++ {
		text += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	return text
}

// describe formats an error as FILE:LINE MESSAGE, one line for each detail.
func describe(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return fmt.Sprint(err)
	}
	text := f.Message
	for _, d := range f.Details {
		text += fmt.Sprintf("\n%s:%d %s", d.File, d.Line, d.Message)
	}
	return text
}

func TestKeysOfOtherToolsAreLeftAlone(t *testing.T) {
	t.Parallel()
	s, err := skills.Parse(folder(map[string]string{"skill.yaml": settings + "when_to_use: |\n  Always.\ntier1: {priority: 1}\n"}))
	if err != nil || len(s.Warnings) != 2 || s.Warnings[0].Line != 12 {
		t.Fatalf("%+v %v", s.Warnings, err)
	}
}

func TestErrorsOfTheSpecAreFoundInTheFolder(t *testing.T) {
	t.Parallel()
	s, err := skills.Parse(folder(nil))
	if err != nil {
		t.Fatal(err)
	}
	moved := s.Locate(&fault.Error{Code: fault.InvalidInput, Message: "x", Details: []fault.Detail{
		{Pointer: "/limits/timeoutMs", Message: "is too much."}, {Pointer: "/inputSchema/properties/name/type", Message: "is none."},
		{Pointer: "/safetyFlags/0", Message: "is odd."}, {File: "skill_entry.py", Line: 2, Message: "no such name."}, {File: "handler.py", Line: 2, Message: "stays."},
	}})
	want := "x\nskill.yaml:11 limits.timeout_ms is too much.\nschema.json:4 input /properties/name/type is none.\nskill.yaml:5 safety_flags.0 is odd." +
		"\nskill.yaml:7 has the handler handler.greet, which cannot be called: no such name.\nhandler.py:2 stays."
	if diff := cmp.Diff(want, describe(moved)); diff != "" {
		t.Error(diff)
	}
}

func TestAWrittenFolderIsTheSameSkill(t *testing.T) {
	t.Parallel()
	before, err := skills.Parse(folder(nil))
	if err != nil {
		t.Fatal(err)
	}
	files, err := skills.FolderOf(before.Settings, before.Spec.InputSchema, before.Spec.OutputSchema, before.Spec.Files)
	if err != nil {
		t.Fatal(err)
	}
	after, err := skills.Parse(files)
	if err != nil {
		t.Fatalf("%v\n%s", err, files["skill.yaml"])
	}
	if diff := cmp.Diff(before.Settings, after.Settings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before.Spec.Files, after.Spec.Files); diff != "" {
		t.Error(diff)
	}
}

func TestAFolderOnDisk(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string // part of the error, "" for none
	}{
		"plain":       {func(*testing.T, string) {}, ""},
		"leftovers":   {func(t *testing.T, dir string) { put(t, dir, "__pycache__/x.pyc", "x"); put(t, dir, ".git/config", "x") }, ""},
		"link":        {func(t *testing.T, dir string) { link(t, "/etc/passwd", dir+"/secret.txt") }, "secret.txt:0 must be a file"},
		"link inside": {func(t *testing.T, dir string) { link(t, "handler.py", dir+"/other.py") }, "other.py:0 must be a file"},
		"link folder": {func(t *testing.T, dir string) { link(t, "/etc", dir+"/lib") }, "lib:0 must be a file"},
		"pipe": {func(t *testing.T, dir string) {
			if err := unix.Mkfifo(dir+"/pipe.py", 0o600); err != nil {
				t.Fatal(err)
			}
		}, "pipe.py:0 must be a file"},
		"large": {func(t *testing.T, dir string) { put(t, dir, "big.bin", strings.Repeat("x", skills.MaxBytes)) }, "exceeds the folder limit"},
		"many": {func(t *testing.T, dir string) {
			for i := range skills.MaxFiles {
				put(t, dir, fmt.Sprintf("f%d.txt", i), "x")
			}
		}, "exceeds the limit of 500 files"},
		"case":      {func(t *testing.T, dir string) { put(t, dir, "Handler.py", "x") }, "only in case"},
		"backslash": {func(t *testing.T, dir string) { put(t, dir, `a\b.py`, "x") }, "must have a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range folder(nil) {
				put(t, dir, "greet/"+name, string(content))
			}
			tt.change(t, filepath.Join(dir, "greet"))
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			files, err := skills.ReadFolder(skills.Dir(root, "greet"))
			switch {
			case tt.want == "" && (err != nil || len(files) != 6):
				t.Errorf("%d files, %v", len(files), err)
			case tt.want != "" && !strings.Contains(describe(err), tt.want):
				t.Errorf("error %q, want %q", describe(err), tt.want)
			}
		})
	}
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// entry is one entry of an archive.
type entry struct {
	name, content string
	kind          byte
}

func packed(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	for _, e := range entries {
		header := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o644, Size: int64(len(e.content))}
		if e.kind == 0 {
			header.Typeflag = tar.TypeReg
		}
		if header.Typeflag != tar.TypeReg {
			header.Size, header.Linkname = 0, e.content
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(e.content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArchives(t *testing.T) {
	t.Parallel()
	whole := []entry{{name: "greet/", kind: tar.TypeDir}, {name: "greet/skill.yaml", content: settings}, {name: "greet/schema.json", content: schemas}, {name: "greet/handler.py", content: "x"}}
	flat := []entry{{name: "./skill.yaml", content: settings}, {name: "./handler.py", content: "x"}}
	with := func(e entry) []entry { return append(append([]entry{}, whole...), e) }
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"a folder":                {packed(t, whole...), ""},
		"its content":             {packed(t, flat...), ""},
		"link":                    {packed(t, with(entry{"greet/x", "/etc/passwd", tar.TypeSymlink})...), "must be a regular file"},
		"hard link":               {packed(t, with(entry{"greet/x", "greet/skill.yaml", tar.TypeLink})...), "must be a regular file"},
		"device":                  {packed(t, with(entry{"greet/x", "", tar.TypeChar})...), "must be a regular file"},
		"climbs":                  {packed(t, with(entry{name: "greet/../../x", content: "x"})...), "must have a"},
		"absolute":                {packed(t, with(entry{name: "/etc/x", content: "x"})...), "must have a"},
		"twice":                   {packed(t, with(entry{name: "greet/skill.yaml", content: "x"})...), "only once"},
		"case":                    {packed(t, with(entry{name: "greet/SKILL.yaml", content: "x"})...), "only in case"},
		"two folders":             {packed(t, with(entry{name: "other/x", content: "x"})...), "contains neither skill.yaml nor manifest.yaml"},
		"nothing":                 {packed(t), "contains neither skill.yaml nor manifest.yaml"},
		"bomb":                    {packed(t, with(entry{name: "greet/x", content: strings.Repeat("\x00", skills.MaxBytes+1)})...), "exceeds the folder limit"},
		"bomb in an ignored file": {packed(t, with(entry{name: "greet/.x", content: strings.Repeat("\x00", 17<<20)})...), "is larger unpacked"},
		"no archive":              {[]byte("hello"), "damaged"},
		"cut off":                 {packed(t, whole...)[:60], "damaged"},
		"second archive":          {append(packed(t, whole...), packed(t, whole...)...), "has extra data after its end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := skills.ReadArchive(bytes.NewReader(tt.archive))
			switch {
			case tt.want == "" && (err != nil || files["skill.yaml"] == nil):
				t.Errorf("%v %v", files, err)
			case tt.want != "" && !strings.Contains(describe(err), tt.want):
				t.Errorf("error %q, want %q", describe(err), tt.want)
			}
		})
	}
}

func TestTheSchemaOfSettings(t *testing.T) {
	t.Parallel()
	text, err := skills.Schema()
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	good := `{"name":"a","version":"1.0.0","description":"x","handler":"handler.f"}`
	if details := compiled.Validate([]byte(good)); len(details) > 0 {
		t.Errorf("a valid file is rejected: %+v\n%s", details, text)
	}
	for _, bad := range []string{`{"name":"a"}`, strings.Replace(good, "1.0.0", "1.0", 1), strings.Replace(good, "handler.f", "handler.f()", 1)} {
		if details := compiled.Validate([]byte(bad)); len(details) == 0 {
			t.Errorf("takes %s", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(settings), []byte(schemas))
	f.Add([]byte(laughs()), []byte(`{"input":{},"output":{}}`))
	f.Add([]byte("a: !!binary x\n? [b]\n: c\n"), []byte(`{"input":[[[]]]}`))
	f.Fuzz(func(t *testing.T, yaml, json []byte) {
		files := map[string]registry.File{"skill.yaml": yaml, "schema.json": json, "handler.py": registry.File("x")}
		s, err := skills.Parse(files)
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidInput {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, ok := s.Spec.Files[s.Spec.Entrypoint]; !ok {
			t.Fatalf("no entry %s", s.Spec.Entrypoint)
		}
	})
}

func FuzzReadArchive(f *testing.F) {
	f.Add(packed(f, entry{name: "skill.yaml", content: settings}, entry{name: "a/b.py", content: "x"}))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := skills.ReadArchive(bytes.NewReader(data))
		if err == nil && files["skill.yaml"] == nil {
			t.Fatal("an archive without settings")
		}
		if err != nil && fault.CodeOf(err) != fault.InvalidInput {
			t.Fatalf("%v", err)
		}
	})
}

func TestPatternsAreReportedInWords(t *testing.T) {
	t.Parallel()
	_, err := skills.Parse(folder(map[string]string{"skill.yaml": "name: greet\nversion: one\ndescription: x\nhandler: handler.greet()\n"}))
	if got := describe(err); !strings.Contains(got, "skill.yaml:2 version must be three numbers") || !strings.Contains(got, "skill.yaml:4 handler must be FILE.FUNCTION") {
		t.Errorf("error %q", got)
	}
}
