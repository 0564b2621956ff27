package servertest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/atelier-run/atelier/server/servertest"
)

const mostFiles = 500

// An agent with the maximum number of files can be saved and published, and exported to another server with the same
// digest. All engines can run it. An agent with one file more must be rejected by name.
func TestAgentsOfFiveHundredFiles(t *testing.T) {
	t.Parallel()
	s, other := servertest.New(t), servertest.New(t)
	python := map[string]string{"main.py": "import importlib\n\ndef main(input, ctx):\n    return sum(importlib.import_module(f'lib.part{n}').n for n in range(498))\n", "lib/__init__.py": ""}
	script := map[string]string{"main.ts": ""}
	for n := range mostFiles - 2 {
		python[fmt.Sprintf("lib/part%d.py", n)] = fmt.Sprintf("n = %d\n", n)
	}
	for n := range mostFiles - 1 {
		script[fmt.Sprintf("lib/deep/part%d.ts", n)] = fmt.Sprintf("export const n: number = %d;\n", n)
		script["main.ts"] += fmt.Sprintf("import { n as n%d } from './lib/deep/part%d';\n", n, n)
	}
	script["main.ts"] += "export default () => n0 + n498;\n"
	for _, agent := range []struct {
		name, language, entry string
		files                 map[string]string
		want                  string
	}{
		{"many-python", "python", "main.py", python, "123753"},
		{"many-typescript", "typescript", "main.ts", script, "498"},
	} {
		s.Create(t, map[string]any{"name": agent.name, "language": agent.language, "entrypoint": agent.entry, "files": agent.files})
		s.Publish(t, agent.name, "1.0.0")
		run := s.Execute(t, agent.name, "1.0.0", map[string]any{})
		if string(run.Output) != agent.want {
			t.Errorf("%s answers %s, want %s: %+v", agent.name, run.Output, agent.want, run.Error)
		}
		packed := s.Want(t, 200, "GET", "/api/v1/archive?agent="+agent.name, nil)
		other.Want(t, 200, "POST", "/api/v1/archive", string(packed.Body), servertest.Headers{"Content-Type": "application/gzip"})
		if again := other.Execute(t, agent.name, "1.0.0", map[string]any{}); again.Provenance.Digest != run.Provenance.Digest || string(again.Output) != agent.want {
			t.Errorf("%s is another elsewhere: %+v", agent.name, again)
		}
	}
	python["one-more.py"] = ""
	refused := s.Want(t, http.StatusUnprocessableEntity, "POST", "/api/v1/code-agents", map[string]any{"name": "too-many", "language": "python", "entrypoint": "main.py", "files": python}).Problem(t)
	if len(refused.Errors) != 1 || refused.Errors[0].Pointer != "/files" || refused.Errors[0].Message != "must have at most 500 files." {
		t.Errorf("refused with %+v", refused)
	}
}
