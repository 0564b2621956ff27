package packages_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// TestDeclared reads lists of packages from the files of a program.
func TestDeclared(t *testing.T) {
	t.Parallel()
	hash := "sha256:" + strings.Repeat("ab", 32)
	for name, tt := range map[string]struct {
		language runtimes.Language
		files    map[string][]byte
		file     string
		want     []string
	}{
		"requirements": {runtimes.Python, map[string][]byte{"requirements.txt": []byte("\ufeff# comment\r\nRequests == 2.32.3   # why\r\n\r\npydantic>=2,<3\r\n")}, "requirements.txt", []string{"pydantic<3,>=2", "requests==2.32.3"}},
		"continued":    {runtimes.Python, map[string][]byte{"requirements.txt": []byte("shout==1 \\\n    --hash=" + hash + " \\\n    --hash=" + hash + "\n    # via greet\n")}, "requirements.txt", []string{"shout==1"}},
		"conditions":   {runtimes.Python, map[string][]byte{"requirements.txt": []byte("a==1 ; python_version < '3.12' and (sys_platform == \"linux\")\na==2;python_version >= '3.12'\n")}, "requirements.txt", []string{`a==1 ; python_version < '3.12' and (sys_platform == "linux")`, "a==2 ; python_version >= '3.12'"}},
		"pyproject":    {runtimes.Python, map[string][]byte{"pyproject.toml": []byte("[project]\nname = \"x\"\ndependencies = [\n  \"shout>=1\",\n]\n[project.optional-dependencies]\ndev = [\"pytest\"]\n")}, "pyproject.toml", []string{"shout>=1"}},
		"package.json": {runtimes.TypeScript, map[string][]byte{"package.json": []byte(`{"type":"module","dependencies":{"zod":"^4","@a/b":""},"devDependencies":{"x":"file:.."},"workspaces":[]}`)}, "package.json", []string{"@a/b@*", "zod@^4"}},
		"none":         {runtimes.TypeScript, map[string][]byte{"package.json": []byte(`{"type":"module","overrides":{"x":"1"}}`), "yarn.lock": nil}, "", nil},
		"only tools":   {runtimes.Python, map[string][]byte{"pyproject.toml": []byte("[tool.ruff]\nline-length = 100\n"), "requirements.txt": []byte("# none\n")}, "", nil},
		"another one":  {runtimes.Bash, map[string][]byte{"requirements.txt": []byte("x")}, "", nil},
		"in a folder":  {runtimes.Python, map[string][]byte{"docs/requirements.txt": []byte("-r other")}, "", nil},
	} {
		got, err := packages.Declared(tt.language, nil, tt.files)
		if err != nil || got.File != tt.file || strings.Join(packages.Texts(got.Requirements), "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	got, err := packages.Declared(runtimes.Python, nil, map[string][]byte{"requirements.txt": []byte("\nshout==1 --hash=" + hash + "\n")})
	if err != nil || len(got.Requirements[0].Hashes) != 1 || got.Requirements[0].Hashes[0] != hash || got.At("shout").Line != 2 {
		t.Errorf("a hash: %+v, %v", got, err)
	}
}

// TestDeclared_Refused checks that the error has file and line for each entry that could control the resolver, or that
// would be ignored without an error.
func TestDeclared_Refused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		language runtimes.Language
		list     []string
		files    map[string]string
		pointer  string
		line     int
		want     string
	}{
		"file option":  {runtimes.Python, nil, map[string]string{"requirements.txt": "a\n-r /etc/passwd\n"}, "/files/requirements.txt", 2, "option -r"},
		"index":        {runtimes.Python, nil, map[string]string{"requirements.txt": "# x\n\n--index-url http://127.0.0.1:9\n"}, "/files/requirements.txt", 3, "option --index-url"},
		"extra index":  {runtimes.Python, nil, map[string]string{"requirements.txt": "--extra-index-url=http://x"}, "/files/requirements.txt", 1, "option --extra-index-url"},
		"constraint":   {runtimes.Python, nil, map[string]string{"requirements.txt": "-c other.txt"}, "/files/requirements.txt", 1, "option -c"},
		"editable":     {runtimes.Python, nil, map[string]string{"requirements.txt": "-e ."}, "/files/requirements.txt", 1, "option -e"},
		"git":          {runtimes.Python, nil, map[string]string{"requirements.txt": "ok\nx @ git+https://x.test/y"}, "/files/requirements.txt", 2, "addresses"},
		"address":      {runtimes.Python, nil, map[string]string{"requirements.txt": "https://x.test/y.whl"}, "/files/requirements.txt", 1, "addresses"},
		"path":         {runtimes.Python, nil, map[string]string{"requirements.txt": "./local"}, "/files/requirements.txt", 1, "must be a name"},
		"hidden":       {runtimes.Python, nil, map[string]string{"requirements.txt": "x==1 \\\n --global-option=--x"}, "/files/requirements.txt", 1, "option --global-option"},
		"weak hash":    {runtimes.Python, nil, map[string]string{"requirements.txt": "x==1 --hash=md5:00"}, "/files/requirements.txt", 1, "--hash=sha256"},
		"condition":    {runtimes.Python, nil, map[string]string{"requirements.txt": "x ; __import__('os')"}, "/files/requirements.txt", 1, "condition"},
		"extra":        {runtimes.Python, nil, map[string]string{"requirements.txt": "x ; extra == 'y'"}, "/files/requirements.txt", 1, "condition"},
		"twice":        {runtimes.Python, nil, map[string]string{"requirements.txt": "x==1\nX==2"}, "/files/requirements.txt", 2, "contains x twice"},
		"both":         {runtimes.Python, []string{"y"}, map[string]string{"requirements.txt": "x"}, "/packages", 0, "requirements.txt lists packages, too"},
		"two files":    {runtimes.Python, nil, map[string]string{"requirements.txt": "x", "pyproject.toml": "[project]\ndependencies=['x']"}, "/files/pyproject.toml", 1, "requirements.txt does, too"},
		"no TOML":      {runtimes.Python, nil, map[string]string{"pyproject.toml": "[project]\nx = ="}, "/files/pyproject.toml", 2, "must be TOML"},
		"Poetry":       {runtimes.Python, nil, map[string]string{"pyproject.toml": "[tool.poetry.dependencies]\nx='1'"}, "/files/pyproject.toml", 1, "Poetry"},
		"dynamic":      {runtimes.Python, nil, map[string]string{"pyproject.toml": "[project]\ndynamic=['dependencies']"}, "/files/pyproject.toml", 2, "dynamic"},
		"uv sources":   {runtimes.Python, nil, map[string]string{"pyproject.toml": "[project]\ndependencies=['x']\n[tool.uv.sources]\nx={git='https://x.test/x'}"}, "/files/pyproject.toml", 3, "tool.uv.sources"},
		"project git":  {runtimes.Python, nil, map[string]string{"pyproject.toml": "[project]\ndependencies=[\n'x @ file:///etc']"}, "/files/pyproject.toml", 3, "addresses"},
		"other lock":   {runtimes.Python, nil, map[string]string{"pyproject.toml": "[project]\ndependencies=['x']", "uv.lock": ""}, "/files/uv.lock", 1, "is not supported"},
		"yarn":         {runtimes.JavaScript, nil, map[string]string{"package.json": `{"dependencies":{"x":"1"}}`, "yarn.lock": ""}, "/files/yarn.lock", 1, "is not supported"},
		"npm file":     {runtimes.JavaScript, nil, map[string]string{"package.json": "{\n\"dependencies\":{\n\"x\":\"file:/etc\"}}"}, "/files/package.json", 3, "addresses"},
		"npm git":      {runtimes.JavaScript, nil, map[string]string{"package.json": "{\"x\":1,\n\"dependencies\":{\"x\":\"git+https://x.test/x\"}}"}, "/files/package.json", 2, "addresses"},
		"npm alias":    {runtimes.JavaScript, nil, map[string]string{"package.json": `{"dependencies":{"x":"npm:y@1"}}`}, "/files/package.json", 1, "aliases"},
		"npm peers":    {runtimes.JavaScript, nil, map[string]string{"package.json": "{\"dependencies\":{\"x\":\"1\"},\n\"peerDependencies\":{\"y\":\"1\"}}"}, "/files/package.json", 2, "peerDependencies"},
		"npm override": {runtimes.JavaScript, nil, map[string]string{"package.json": `{"dependencies":{"x":"1"},"overrides":{"y":"1"}}`}, "/files/package.json", 1, "overrides"},
		"no JSON":      {runtimes.JavaScript, nil, map[string]string{"package.json": "{\n\"x\": }"}, "/files/package.json", 2, "JSON object"},
		"npm list":     {runtimes.JavaScript, nil, map[string]string{"package.json": `{"dependencies":["x"]}`}, "/files/package.json", 1, "names and ranges"},
		"too large":    {runtimes.Python, nil, map[string]string{"requirements.txt": strings.Repeat("#\n", 200<<10)}, "/files/requirements.txt", 1, "at most"},
	} {
		files := map[string][]byte{}
		for path, text := range tt.files {
			files[path] = []byte(text)
		}
		got, err := packages.Declared(tt.language, tt.list, files)
		var refused *fault.Error
		if !errors.As(err, &refused) || refused.Code != fault.InvalidInput || len(refused.Details) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if d := refused.Details[0]; d.Pointer != tt.pointer || d.Line != tt.line || !strings.Contains(d.Message, tt.want) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestDeclared_DeepPyproject checks that deep nesting is refused before the TOML decoder runs, because the decoder stores
// the path of every level.
func TestDeclared_DeepPyproject(t *testing.T) {
	t.Parallel()
	many := func(text string) string { return strings.Repeat(text, 3000) }
	for name, text := range map[string]string{
		"keys":          "\n" + many("a.") + "a=1",
		"spaced keys":   "\n" + many("'a' . ") + "a=1",
		"table":         "\n[" + many("a.") + "a]",
		"tables":        "\nx=" + many("{a=") + "1",
		"lists":         "\nx=" + many("["),
		"both":          "\nx=" + many("[{a.a="),
		"after text":    "\nx=" + many(`["]",`),
		"after comment": "\nx=[ #]\n" + many("[ # ]\n"),
		"after quotes":  "\nx=" + many(`["""\"""]"""","]",`) + many(`['''"""]'''',"]",`),
		"key in list":   "[[" + strings.Repeat("a.", 20) + "a]]\n" + strings.Repeat("a.", 20) + "a=1",
		"key in table":  "[" + strings.Repeat("a.", 20) + "a]\n" + strings.Repeat("a.", 20) + "a=1",
	} {
		_, err := packages.Declared(runtimes.Python, nil, map[string][]byte{"pyproject.toml": []byte(text)})
		var refused *fault.Error
		if !errors.As(err, &refused) || !strings.Contains(refused.Details[0].Message, "levels") || refused.Details[0].Line < 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	wide := "[project]\ndependencies = [\"x\"] # [[[[\n[[tool.a.b]]\nv = [" + many("1.5, ") + "]\nw = \"" + many("[.{") + "\"\n" + many("[[tool.a.b]]\nc.d = {e = [{f = 1}]}\n")
	if got, err := packages.Declared(runtimes.Python, nil, map[string][]byte{"pyproject.toml": []byte(wide)}); err != nil || len(got.Requirements) != 1 {
		t.Errorf("a wide file: %+v, %v", got, err)
	}
}

// TestDeclared_Many refuses files that would be slow to read: a line with many continuation lines, and many packages.
func TestDeclared_Many(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 20_000 {
		names = append(names, fmt.Sprintf("p%05d", i))
	}
	for file, text := range map[string]string{
		"requirements.txt": "\nx==1 \\\n" + strings.Repeat("\\\n", 120_000),
		"pyproject.toml":   "[project]\ndependencies=['" + strings.Join(names, "','") + "']",
		"package.json":     "{\n\"dependencies\":{\"" + strings.Join(names, "\":\"\",\"") + "\":\"\"}}",
	} {
		language := runtimes.Python
		if file == "package.json" {
			language = runtimes.JavaScript
		}
		_, err := packages.Declared(language, nil, map[string][]byte{file: []byte(text)})
		var refused *fault.Error
		if !errors.As(err, &refused) || len(refused.Details) != 1 || refused.Details[0].Line != 2 || !strings.Contains(refused.Details[0].Message, "at most") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// FuzzDeclared reads any text as a list of packages. It expects no panic, and that each accepted entry is one line without
// an option.
func FuzzDeclared(f *testing.F) {
	for _, seed := range []string{"requests==2.32.3\n", "a ; python_version < '3'", "-r x", "a \\\n --hash=sha256:00", "[project]\ndependencies = ['a']", `{"dependencies":{"a":"1"}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for file, language := range map[string]runtimes.Language{"requirements.txt": runtimes.Python, "pyproject.toml": runtimes.Python, "package.json": runtimes.JavaScript} {
			got, err := packages.Declared(language, nil, map[string][]byte{file: []byte(text)})
			if err != nil {
				continue
			}
			for _, one := range packages.Texts(got.Requirements) {
				if strings.ContainsAny(one, "\r\n\x00") || strings.HasPrefix(one, "-") || language == runtimes.Python && strings.ContainsAny(one, "/\\@#") {
					t.Errorf("%s: %q", file, one)
				}
			}
		}
	})
}
