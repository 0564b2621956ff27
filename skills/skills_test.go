package skills_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/registry/schema"
	folders "github.com/atelier-run/atelier/registry/skills"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
	"github.com/atelier-run/atelier/skills"
	"github.com/atelier-run/atelier/studio/specs"
)

// bench runs skills as the house does: read from their folders, their input and output held to their schemas, in the jail and
// within their limits.
type bench struct {
	engine *python.Engine
	models bool
	skills map[string]folders.Skill

	mu      sync.Mutex
	schemas map[string]*schema.Schema
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return benchWith(t, "")
}

// benchWith shows embed_text a directory of models.
func benchWith(t *testing.T, models string) *bench {
	t.Helper()
	box := sandboxtest.New(t, sandboxtest.Exe(t))
	b := &bench{engine: python.New(python.Options{Jailer: worker.FromSandbox(box), Interpreter: "/usr/bin/python3", Models: models}), models: models != "", skills: load(t), schemas: map[string]*schema.Schema{}}
	t.Cleanup(b.engine.Close)
	return b
}

func load(t *testing.T) map[string]folders.Skill {
	t.Helper()
	found := map[string]folders.Skill{}
	entries, err := fs.ReadDir(skills.Folders(), ".")
	if err != nil {
		t.Fatal(err)
	}
	checker := specs.New(specs.NewValidator(schema.NewCache(16)), runtimes.DefaultLimits(), runtimes.DefaultCeilings())
	for _, entry := range entries {
		folder, err := fs.Sub(skills.Folders(), entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		files, err := folders.ReadFolder(folder)
		if err != nil {
			t.Fatal(err)
		}
		skill, err := folders.Parse(files)
		if err != nil {
			t.Fatalf("%s: %v", entry.Name(), err)
		}
		if skill.Spec, err = checker.Complete(skill.Spec); err != nil {
			t.Fatalf("%s: %v", entry.Name(), err)
		}
		found[entry.Name()] = skill
	}
	return found
}

// fits holds a document to a schema.
func (b *bench) fits(t *testing.T, text, document json.RawMessage) []string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	compiled := b.schemas[string(text)]
	if compiled == nil {
		var err error
		if compiled, err = schema.Compile(text); err != nil {
			t.Fatal(err)
		}
		b.schemas[string(text)] = compiled
	}
	var wrong []string
	for _, d := range compiled.Validate(document) {
		wrong = append(wrong, d.Pointer+" "+d.Message)
	}
	return wrong
}

// outcome runs a skill on an input that its schema takes.
func (b *bench) outcome(t *testing.T, name string, input any) runtimes.Outcome {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	spec := b.skills[name].Spec
	if wrong := b.fits(t, spec.InputSchema, text); wrong != nil {
		t.Fatalf("the input does not fit: %v", wrong)
	}
	job := runtimes.Job{
		RunID: "run", Workspace: "workspace", Language: spec.Language, Runtime: runtimes.PythonEngine, Files: map[string][]byte{}, Entrypoint: spec.Entrypoint,
		Input: text, Environment: spec.Environment, Limits: spec.Limits.Or(runtimes.DefaultLimits()),
		Models: b.models && name == skills.EmbedText,
	}
	job.Limits.TimeoutMs = runtimes.DefaultCeilings().TimeoutMs // other tests take the processors; the limit of CPU time stays
	for path, content := range spec.Files {
		job.Files[path] = content
	}
	outcome, _ := runtimetest.Run(t, b.engine, job)
	return outcome
}

// run runs a skill that is to succeed, and reads what it says, which fits its schema.
func (b *bench) run(t *testing.T, name string, input, output any) {
	t.Helper()
	outcome := b.outcome(t, name, input)
	if outcome.Error != nil {
		t.Fatalf("%s: %+v", name, outcome.Error)
	}
	if wrong := b.fits(t, b.skills[name].Spec.OutputSchema, outcome.Output); wrong != nil {
		t.Fatalf("the output does not fit: %v", wrong)
	}
	if err := json.Unmarshal(outcome.Output, output); err != nil {
		t.Fatal(err)
	}
}

// TestFoldersAreSkills: what is shipped is as it should be when people write it.
func TestFoldersAreSkills(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, skill := range b.skills {
		if skill.Settings.Name != name || skill.Settings.Version == "" || len(skill.Warnings) > 0 {
			t.Errorf("%s: %+v, warnings %v", name, skill.Settings, skill.Warnings)
		}
		for _, text := range []json.RawMessage{skill.Spec.InputSchema, skill.Spec.OutputSchema} {
			if !strings.Contains(string(text), `"additionalProperties": false`) && !strings.Contains(string(text), `"additionalProperties":false`) {
				t.Errorf("%s: a schema is open: %.200s", name, text)
			}
		}
		if _, err := fs.Stat(skills.Folders(), name+"/README.md"); err != nil {
			t.Errorf("%s has no README.md", name)
		}
	}
}

// TestContracts: the bounds that clients know.
func TestContracts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := func(n int) string { return strings.Repeat("a", n) }
	artifact := `{"id":"1","type":"t","content":{}}`
	tests := []struct {
		skill, input string
		fits         bool
	}{
		{"text_summarize", `{"text":"a"}`, true},
		{"text_summarize", `{"text":"` + long(100_000) + `"}`, true},
		{"text_summarize", `{"text":"` + long(100_001) + `"}`, false},
		{"text_summarize", `{"text":""}`, false},
		{"text_summarize", `{"text":"a","max_sentences":20,"style":"bullet-points"}`, true},
		{"text_summarize", `{"text":"a","max_sentences":0}`, false},
		{"text_summarize", `{"text":"a","max_sentences":21}`, false},
		{"text_summarize", `{"text":"a","style":"short"}`, false},
		{"text_summarize", `{"text":"a","more":1}`, false},
		{"extract_entities", `{"text":""}`, true},
		{"extract_entities", `{"text":"a","entity_types":["PERSON","ORGANIZATION","LOCATION","DATE","MONEY","EMAIL","PHONE","URL"],"min_confidence":1}`, true},
		{"extract_entities", `{"text":"a","entity_types":["CITY"]}`, false},
		{"extract_entities", `{"text":"a","min_confidence":1.1}`, false},
		{"extract_entities", `{"entity_types":[]}`, false},
		{"embed_text", `{"text":"a"}`, true},
		{"embed_text", `{"text":"` + long(10_000) + `","model":"all-mpnet-base-v2","normalize":false}`, true},
		{"embed_text", `{"text":"` + long(10_001) + `"}`, false},
		{"embed_text", `{"text":""}`, false},
		{"embed_text", `{"text":"a","model":"gpt"}`, false},
		{"compact_memory", `{"artifacts":[` + artifact + `]}`, true},
		{"compact_memory", `{"artifacts":[]}`, false},
		{"compact_memory", `{"artifacts":[{"id":"1","type":"t"}]}`, false},
		{"compact_memory", `{"artifacts":[` + artifact + `],"max_tokens":100,"strategy":"intelligent","preserve_fields":[]}`, true},
		{"compact_memory", `{"artifacts":[` + artifact + `],"max_tokens":99}`, false},
		{"compact_memory", `{"artifacts":[` + artifact + `],"max_tokens":8001}`, false},
		{"compact_memory", `{"artifacts":[` + artifact + `],"strategy":"magic"}`, false},
	}
	for _, tt := range tests {
		if wrong := b.fits(t, b.skills[tt.skill].Spec.InputSchema, json.RawMessage(tt.input)); (wrong == nil) != tt.fits {
			t.Errorf("%s %.80s: %v", tt.skill, tt.input, wrong)
		}
	}
}

// lines of a file of testdata, without comments.
func lines(t *testing.T, path ...string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			kept = append(kept, strings.TrimSuffix(line, "\n"))
		}
	}
	return kept
}
