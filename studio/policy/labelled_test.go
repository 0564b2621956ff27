package policy_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
	"github.com/atelier-run/atelier/studio/policy"
)

// none is a store without settings and packs.
type none struct{}

func (none) GateSettings(context.Context, string) (registry.GateSettings, bool, error) {
	return registry.GateSettings{}, false, nil
}
func (none) PutGateSettings(context.Context, string, registry.GateSettings) (int64, error) {
	return 0, nil
}
func (none) RulePacks(context.Context, string) ([]registry.RulePack, error) { return nil, nil }
func (none) PutRulePack(context.Context, registry.RulePack) error           { return nil }
func (none) DeleteRulePack(context.Context, string, string) error           { return nil }

func (none) Restricted(_ string, spec registry.Spec) bool { return spec.Rules != nil }

// Rules returns the rules of the program itself.
func (none) Rules(_ string, spec registry.Spec) *runtimes.Rules { return spec.Rules }

// newInspector returns an inspector of all languages.
func newInspector(t *testing.T) *inspect.Inspector {
	t.Helper()
	jailer := worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t)))
	programs := python.New(python.Options{Jailer: jailer, Interpreter: "/usr/bin/python3", Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(programs.Close)
	inspector := inspect.New(inspect.Options{Jailer: jailer, Programs: programs, Python: "/usr/bin/python3", Bash: "/usr/bin/bash"})
	t.Cleanup(inspector.Close)
	return inspector
}

func newGate(t *testing.T) *policy.Service {
	t.Helper()
	inspector := newInspector(t)
	gate, err := policy.New(policy.Options{Store: none{}, Packs: none{}, Inspector: inspector, Rules: none{}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

func specOf(language runtimes.Language, text string) registry.Spec {
	entry := map[runtimes.Language]string{runtimes.Python: "main.py", runtimes.JavaScript: "main.js", runtimes.TypeScript: "main.ts", runtimes.Bash: "main.sh"}[language]
	return registry.Spec{Language: language, Entrypoint: entry, Files: map[string]registry.File{entry: registry.File(text)}}
}

// The test judges dangerous programs, and harmless programs that look similar. The verdict about a dangerous program
// must be escalate or block. The test ignores new capabilities, because a harmless program may have them too.
func TestLabelledPrograms(t *testing.T) {
	t.Parallel()
	gate := newGate(t)
	counts := map[string]int{}
	for _, language := range []runtimes.Language{runtimes.Python, runtimes.JavaScript, runtimes.TypeScript, runtimes.Bash} {
		text, err := os.ReadFile(filepath.Join("testdata", string(language)+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "### ") {
			if part == "" {
				continue
			}
			title, code, _ := strings.Cut(part, "\n")
			spec := specOf(language, code)
			if strings.Contains(code, "./lib") {
				spec.Files["lib.js"], spec.Files["lib.sh"] = registry.File("exports.f = (x) => x\n"), registry.File("x=1\n")
			}
			v, err := gate.Judge(t.Context(), "default", spec, &spec)
			if err != nil {
				t.Fatalf("%s: %s: %v", language, title, err)
			}
			label, _, _ := strings.Cut(title, " ")
			stopped := v.Decision == registry.Escalate || v.Decision == registry.Block
			counts[label]++
			if stopped == (label == "dangerous") {
				counts["right"]++
			} else {
				t.Logf("%s: %s: %s %+v", language, title, v.Decision, v.Findings)
			}
			if label == "dangerous" && v.Decision == registry.Approve {
				counts["approved"]++
				t.Errorf("%s: %s is approved", language, title)
			}
		}
	}
	all := counts["dangerous"] + counts["ordinary"]
	t.Logf("labelled programs: %d dangerous, %d ordinary, %d of %d right, %d dangerous approved", counts["dangerous"], counts["ordinary"], counts["right"], all, counts["approved"])
	if all < 120 || counts["right"]*100 < all*95 {
		t.Errorf("%d of %d are right, want 95 %%", counts["right"], all)
	}
}

// A program with a syntax error is blocked, and the finding is the syntax error.
func TestJudge_Syntax_Blocks(t *testing.T) {
	t.Parallel()
	gate := newGate(t)
	for language, text := range map[runtimes.Language]string{
		runtimes.Python: "def main(:\n", runtimes.JavaScript: "export default (=> 1\n", runtimes.TypeScript: "const a: = 1\n", runtimes.Bash: "if true; then\n",
	} {
		v, err := gate.Judge(t.Context(), "default", specOf(language, text), nil)
		if err != nil || v.Decision != registry.Block || v.Findings[0].RuleID != "syntax" || v.Findings[0].Line < 1 {
			t.Errorf("%s: %+v, %v", language, v, err)
		}
	}
}

// A program that the analysis cannot read is escalated, and never approved.
func TestJudge_Undecided_Escalates(t *testing.T) {
	t.Parallel()
	gate := newGate(t)
	v, err := gate.Judge(t.Context(), "default", specOf(runtimes.JavaScript, "const x = await Promise.resolve(1)\nexport default () => x\n"), nil)
	if err != nil || v.Decision != registry.Escalate || v.Findings[0].RuleID != "undecided" {
		t.Errorf("an await at the top level: %+v, %v", v, err)
	}
	if v, err = gate.Judge(t.Context(), "default", specOf("unknown", "print 1\n"), nil); err != nil || v.Decision != registry.Escalate || v.Findings[0].RuleID != "undecided" {
		t.Errorf("a language without an analysis: %+v, %v", v, err)
	}
	many := "def main(input, ctx):\n" + strings.Repeat("    print(eval('1'))\n", 6000)
	if v, err = gate.Judge(t.Context(), "default", specOf(runtimes.Python, many), nil); err != nil || v.Decision != registry.Escalate || len(v.Findings) != 200 || v.MoreFindings < 1000 {
		t.Errorf("many findings: %s, %d and %d more, %v", v.Decision, len(v.Findings), v.MoreFindings, err)
	}
	deep := specOf(runtimes.Python, "x = "+strings.Repeat("(", 5000)+strings.Repeat(")", 5000)+"\n")
	if v, err = gate.Judge(t.Context(), "default", deep, nil); err != nil || v.Decision != registry.Block {
		t.Errorf("deep nesting: %+v, %v", v, err)
	}
}

func TestJudge_NewCapabilities_InWords(t *testing.T) {
	t.Parallel()
	gate := newGate(t)
	before := specOf(runtimes.Python, "def main(input, ctx):\n    return 1\n")
	after := specOf(runtimes.Python, "import ctypes, subprocess\nfrom urllib import request\ndef main(input, ctx):\n    subprocess.run(['ls'])\n    request.urlopen('https://api.example.com/x')\n    return ctx.env['API_KEY']\n")
	after.Secrets, after.Capabilities.Hosts = []string{"API_KEY"}, []string{"api.example.com:443"}
	v, err := gate.Judge(t.Context(), "default", after, &before)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, c := range v.CapabilityChanges {
		words = append(words, c.Message)
	}
	all := strings.Join(words, "\n")
	for _, want := range []string{
		"newly reaches api.example.com:443 (main.py:5)", "newly reads the secret API_KEY (main.py:6)", "newly starts processes (main.py:4)", "newly imports ctypes (main.py:1)", "newly imports urllib.request (main.py:2)",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	same, err := gate.Judge(t.Context(), "default", after, &after)
	if err != nil || len(same.CapabilityChanges) != 0 {
		t.Errorf("no change: %+v, %v", same.CapabilityChanges, err)
	}
}

// The test prints how long the analysis of 200 lines takes in a warm sandbox.
func TestAnalysis_Speed(t *testing.T) {
	t.Parallel()
	inspector := newInspector(t)
	for language, line := range map[runtimes.Language]string{runtimes.Python: "    x = max(len(str(input)), 1)\n", runtimes.JavaScript: "  x = Math.max(String(input).length, 1)\n"} {
		head := map[runtimes.Language]string{runtimes.Python: "def main(input, ctx):\n", runtimes.JavaScript: "let x\nexport default (input) => {\n"}[language]
		tail := map[runtimes.Language]string{runtimes.JavaScript: "}\n"}[language]
		spec := specOf(language, head+strings.Repeat(line, 200)+tail)
		request := inspect.Request{Language: language, Entrypoint: spec.Entrypoint, Files: map[string][]byte{spec.Entrypoint: spec.Files[spec.Entrypoint]}}
		var best time.Duration
		for range 10 {
			begin := time.Now()
			if found, err := inspector.Facts(t.Context(), request); err != nil || len(found.Facts) < 200 {
				t.Fatalf("%s: %d facts, %v %v", language, len(found.Facts), found.Errors, err)
			}
			if took := time.Since(begin); best == 0 || took < best {
				best = took
			}
		}
		t.Logf("%s: 200 lines take %s at best", language, best)
	}
}

// The facts about a WebAssembly module are its imports. Imports other than WASI are new capabilities, and such a module
// cannot run.
func TestJudge_WASMImport_IsACapability(t *testing.T) {
	t.Parallel()
	gate := newGate(t)
	header, types := "\x00asm\x01\x00\x00\x00", "\x01\x04\x01\x60\x00\x00"
	module := func(imports string) registry.Spec {
		return registry.Spec{Language: runtimes.WASM, Entrypoint: "main.wasm", Files: map[string]registry.File{"main.wasm": registry.File(header + types + imports)}}
	}
	before, after := module(""), module("\x02\x0c\x01\x03env\x04evil\x00\x00")
	v, err := gate.Judge(t.Context(), "default", after, &before)
	if err != nil || len(v.CapabilityChanges) != 1 || !strings.Contains(v.CapabilityChanges[0].Message, "newly imports env.evil") || v.Decision != registry.Block ||
		!slices.ContainsFunc(v.Findings, func(f registry.Finding) bool { return f.RuleID == "standard/wasm-import" }) {
		t.Errorf("%+v, %v", v, err)
	}
}
