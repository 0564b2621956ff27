package skills

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/atelier-run/atelier/internal/editdistance"
)

// Settings is the content of skill.yaml. Its members have the names that existing skills of other products use.
type Settings struct {
	Name             string            `json:"name" jsonschema:"pattern=^[a-z][a-z0-9_-]{0\\,62}$,description=Name that callers use. It is unique in a workspace."`
	Version          string            `json:"version" jsonschema:"pattern=^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$,description=Three numbers\\, for example 1.0.0. Increase it with every change."`
	Description      string            `json:"description" jsonschema:"minLength=1,maxLength=4000,description=Description for people and models who choose a skill."`
	Handler          string            `json:"handler" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$,maxLength=200,description=file.function: that function of handler.py is called with the input's properties as keyword arguments. handler alone is a whole program with main(input\\, ctx)."`
	SafetyFlags      []string          `json:"safety_flags,omitempty" jsonschema:"maxItems=6,enum=none,enum=pii_risk,enum=external_call,enum=side_effect,enum=file_system,enum=network_access,description=Declared effects. A flag grants nothing."`
	RequiresApproval bool              `json:"requires_approval,omitempty" jsonschema:"description=A person must approve each run."`
	Tags             []string          `json:"tags,omitempty" jsonschema:"maxItems=20,description=Tags for searching."`
	Title            string            `json:"title,omitempty" jsonschema:"maxLength=200,description=Display name."`
	Changelog        string            `json:"changelog,omitempty" jsonschema:"maxLength=10000,description=Changes in this version."`
	Override         string            `json:"override,omitempty" jsonschema:"maxLength=10000,description=Reason for a smaller version step than the changes require. Without it such a version is refused."`
	Limits           Limits            `json:"limits,omitempty" jsonschema:"description=Limits of one run. Limits that are absent have the server's defaults."`
	Capabilities     Capabilities      `json:"capabilities,omitempty" jsonschema:"description=Capabilities that the skill needs."`
	Environment      map[string]string `json:"environment,omitempty" jsonschema:"description=Environment variables of the program."`
	Secrets          []string          `json:"secrets,omitempty" jsonschema:"description=Names of secrets of the workspace."`
	Dependencies     []string          `json:"dependencies,omitempty" jsonschema:"description=Packages. Refused if the server installs none."`
	Rules            *Rules            `json:"rules,omitempty" jsonschema:"description=Rules for the program\\, checked before and during a run."`
	Deterministic    bool              `json:"deterministic,omitempty" jsonschema:"description=Refused until the server replays runs."`
}

// Limits holds the limits of a run with the field names of skill.yaml.
type Limits struct {
	TimeoutMs      int64 `json:"timeout_ms,omitempty" jsonschema:"minimum=1"`
	CPUMs          int64 `json:"cpu_ms,omitempty" jsonschema:"minimum=1"`
	MemoryBytes    int64 `json:"memory_bytes,omitempty" jsonschema:"minimum=1"`
	Processes      int64 `json:"processes,omitempty" jsonschema:"minimum=1"`
	OutputBytes    int64 `json:"output_bytes,omitempty" jsonschema:"minimum=1"`
	DiskBytes      int64 `json:"disk_bytes,omitempty" jsonschema:"minimum=1"`
	RecursionDepth int64 `json:"recursion_depth,omitempty" jsonschema:"minimum=1"`
}

// Capabilities holds the capabilities of a version with the field names of skill.yaml.
type Capabilities struct {
	Hosts         []string `json:"hosts,omitempty" jsonschema:"description=Hosts as host:port\\, for example api.example.com:443."`
	HostFunctions []string `json:"host_functions,omitempty" jsonschema:"description=log and progress are always granted."`
	Subprocess    bool     `json:"subprocess,omitempty"`
	Tools         []string `json:"tools,omitempty" jsonschema:"description=References to agents that the program may call\\, for example summarise@^1."`
	Files         *Files   `json:"files,omitempty" jsonschema:"description=The project that the program may read."`
}

// Files is the permission to read files of a project.
type Files struct {
	Project string `json:"project"`
	Write   bool   `json:"write,omitempty" jsonschema:"description=The program may also propose changes."`
}

// Rules names a rule pack. It may also list the modules that the program may import.
type Rules struct {
	Pack    string   `json:"pack" jsonschema:"enum=restricted,enum=none"`
	Imports []string `json:"imports,omitempty"`
}

// Schema returns the JSON Schema of skill.yaml, which is generated from the Go type. The schema allows unknown members,
// because skills of other products contain members for their planners.
func Schema() ([]byte, error) {
	reflector := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true, AllowAdditionalProperties: true}
	s := reflector.Reflect(Settings{})
	s.Title = "Atelier skill"
	s.Description = "skill.yaml describes a skill. schema.json in the same folder describes its input and output."
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("make the schema of skill.yaml: %w", err)
	}
	return text, nil
}

// known lists the names of the members of skill.yaml.
func known() []string {
	return []string{"name", "version", "description", "handler", "safety_flags", "requires_approval", "tags", "title", "changelog", "override",
		"limits", "capabilities", "environment", "secrets", "dependencies", "rules", "deterministic"}
}

// misspelt returns the known member whose name is similar to an unknown name, or "" if there is none.
func misspelt(name string) string {
	if slices.Contains(known(), name) {
		return ""
	}
	for _, k := range known() {
		if editdistance.Within(name, k, 2) && len(k) > 3 {
			return k
		}
	}
	return ""
}
