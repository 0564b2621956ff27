package specs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

func checker() *specs.Checker {
	return specs.New(specs.NewValidator(schema.NewCache(16)), runtimes.DefaultLimits(), runtimes.DefaultCeilings())
}

func hello() registry.Spec {
	return registry.Spec{Language: runtimes.Python, Files: map[string]registry.File{"main.py": registry.File("def main(): pass\n")}}
}

func TestCompleteFillsInDefaults(t *testing.T) {
	t.Parallel()
	spec, err := checker().Complete(hello())
	if err != nil {
		t.Fatal(err)
	}
	if spec.Entrypoint != "main.py" || spec.Runtime != runtimes.Auto || spec.Limits != (runtimes.Limits{}) {
		t.Errorf("entry %s, runtime %s, limits %+v", spec.Entrypoint, spec.Runtime, spec.Limits)
	}
	again, err := checker().Complete(spec)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(spec)
	if after, _ := json.Marshal(again); string(before) != string(after) {
		t.Errorf("completing twice changes the spec:\n%s\n%s", before, after)
	}
}

func TestCompleteNamesTheField(t *testing.T) {
	t.Parallel()
	many := map[string]registry.File{"main.py": nil}
	for i := range specs.MaxFiles {
		many[fmt.Sprintf("f%d.py", i)] = nil
	}
	environment := map[string]string{}
	for i := range specs.MaxEnvironment + 1 {
		environment[fmt.Sprintf("V%d", i)] = ""
	}
	tests := map[string]struct {
		change func(*registry.Spec)
		want   string
	}{
		"unknown language":   {func(s *registry.Spec) { s.Language = "cobol" }, "/language"},
		"unknown runtime":    {func(s *registry.Spec) { s.Runtime = "docker" }, "/runtime"},
		"runtime of another": {func(s *registry.Spec) { s.Runtime = runtimes.Goja }, "/runtime"},
		"unknown isolation":  {func(s *registry.Spec) { s.Isolation = "none" }, "/isolation"},
		"removed isolation": {func(s *registry.Spec) {
			s.Language, s.Runtime, s.Isolation, s.Files = runtimes.JavaScript, runtimes.NodeEngine, "reuse", map[string]registry.File{"main.js": nil}
		}, "/isolation"},
		"model for another service": {func(s *registry.Spec) {
			s.Runtime, s.Capabilities.HostFunctions = runtimes.E2BEngine, []string{"log", specs.AskFunction}
		}, "/capabilities/hostFunctions/1"},
		"no files":                {func(s *registry.Spec) { s.Files = nil }, "/files"},
		"too many files":          {func(s *registry.Spec) { s.Files = many }, "/files"},
		"too large":               {func(s *registry.Spec) { s.Files["big"] = make([]byte, specs.MaxFilesBytes) }, "/files"},
		"entry is missing":        {func(s *registry.Spec) { s.Entrypoint = "start.py" }, "/entrypoint"},
		"entry of another kind":   {func(s *registry.Spec) { s.Files["a.txt"], s.Entrypoint = nil, "a.txt" }, "/entrypoint"},
		"path that climbs":        {func(s *registry.Spec) { s.Files["../x"] = nil }, "/files/..~1x"},
		"absolute path":           {func(s *registry.Spec) { s.Files["/etc/passwd"] = nil }, "/files/~1etc~1passwd"},
		"path with a line break":  {func(s *registry.Spec) { s.Files["a\nb"] = nil }, "/files/a\nb"},
		"file beneath a file":     {func(s *registry.Spec) { s.Files["main.py/x"] = nil }, "/files/main.py~1x"},
		"schema is no schema":     {func(s *registry.Spec) { s.InputSchema = json.RawMessage(`{"type":"strin"}`) }, "/inputSchema"},
		"input is no object":      {func(s *registry.Spec) { s.InputSchema = json.RawMessage(`{"type":"array"}`) }, "/inputSchema"},
		"output schema":           {func(s *registry.Spec) { s.OutputSchema = json.RawMessage(`{"type":7}`) }, "/outputSchema"},
		"reserved variable":       {func(s *registry.Spec) { s.Environment = map[string]string{"LD_PRELOAD": "x"} }, "/environment/LD_PRELOAD"},
		"what Bash would heed":    {func(s *registry.Spec) { s.Environment = map[string]string{"POSIXLY_CORRECT": "1"} }, "/environment/POSIXLY_CORRECT"},
		"variable of ours":        {func(s *registry.Spec) { s.Environment = map[string]string{"__atelier_tag": "1"} }, "/environment/__atelier_tag"},
		"variable name":           {func(s *registry.Spec) { s.Environment = map[string]string{"a-b": "x"} }, "/environment/a-b"},
		"too many variables":      {func(s *registry.Spec) { s.Environment = environment }, "/environment"},
		"environment too large":   {func(s *registry.Spec) { s.Environment = map[string]string{"A": strings.Repeat("x", 40<<10)} }, "/environment"},
		"secret also a value":     {func(s *registry.Spec) { s.Environment, s.Secrets = map[string]string{"K": "x"}, []string{"K"} }, "/secrets/0"},
		"host without a port":     {func(s *registry.Spec) { s.Capabilities.Hosts = []string{"api.example.com"} }, "/capabilities/hosts/0"},
		"a proxy of its own":      {func(s *registry.Spec) { s.Environment = map[string]string{"Http_Proxy": "http://x"} }, "/environment/Http_Proxy"},
		"wildcard in the middle":  {func(s *registry.Spec) { s.Capabilities.Hosts = []string{"api.*.com:443"} }, "/capabilities/hosts/0"},
		"unknown flag":            {func(s *registry.Spec) { s.SafetyFlags = []string{"fine"} }, "/safetyFlags/0"},
		"limit above the ceiling": {func(s *registry.Spec) { s.Limits.MemoryBytes = 1 << 40 }, "/limits/memoryBytes"},
		"negative limit":          {func(s *registry.Spec) { s.Limits.TimeoutMs = -1 }, "/limits/timeoutMs"},
		"packages":                {func(s *registry.Spec) { s.Packages = []string{"requests"} }, "/packages"},
		"deterministic":           {func(s *registry.Spec) { s.Deterministic = true }, "/deterministic"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := hello()
			tt.change(&spec)
			_, err := checker().Complete(spec)
			var refused *fault.Error
			if !errors.As(err, &refused) || refused.Code != fault.InvalidInput {
				t.Fatalf("error %v, want invalid_input", err)
			}
			if !slices.ContainsFunc(refused.Details, func(d fault.Detail) bool {
				return d.Pointer == tt.want || strings.HasPrefix(d.Pointer, tt.want+"/")
			}) {
				t.Fatalf("details %+v, want one at %s", refused.Details, tt.want)
			}
		})
	}
}

func TestExistingClientsNamesOfRuntimes(t *testing.T) {
	t.Parallel()
	spec := hello()
	spec.Runtime = "subprocess"
	spec, err := checker().Complete(spec)
	if err != nil || spec.Runtime != runtimes.PythonEngine {
		t.Fatalf("subprocess became %q, %v", spec.Runtime, err)
	}
}

func TestDefaultsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	defaults := runtimes.DefaultLimits()
	defaults.TimeoutMs = 700
	checker := specs.New(specs.NewValidator(schema.NewCache(16)), defaults, runtimes.DefaultCeilings())
	spec, err := checker.Complete(registry.Spec{
		Language: runtimes.Bash, Files: map[string]registry.File{"main.sh": registry.File("echo 1")}, Limits: runtimes.Limits{MemoryBytes: 32 << 20},
	})
	if err != nil || spec.Limits != (runtimes.Limits{MemoryBytes: 32 << 20}) {
		t.Errorf("absent limits became %+v, %v", spec.Limits, err)
	}
	if limits := checker.Limits(spec.Limits); limits.TimeoutMs != 700 || limits.MemoryBytes != 32<<20 || limits.Processes != defaults.Processes {
		t.Errorf("limits of a run %+v", limits)
	}
}
