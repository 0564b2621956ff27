package skills

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/atelier-run/atelier/internal/editdistance"
)

// Settings is skill.yaml. The names are those that existing skills are written with.
type Settings struct {
	Name             string            `json:"name" jsonschema:"pattern=^[a-z][a-z0-9_-]{0\\,62}$,description=The name that callers use; it is unique in a workspace."`
	Version          string            `json:"version" jsonschema:"pattern=^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$,description=Raise it with every change: a version never gets other content. Three numbers\\, such as 1.0.0."`
	Description      string            `json:"description" jsonschema:"minLength=1,maxLength=4000,description=What the skill does\\, for those who choose one."`
	Handler          string            `json:"handler" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$,maxLength=200,description=file.function: that function of handler.py is called with the input's properties as keyword arguments. handler alone is a whole program with main(input\\, ctx)."`
	SafetyFlags      []string          `json:"safety_flags,omitempty" jsonschema:"maxItems=6,enum=none,enum=pii_risk,enum=external_call,enum=side_effect,enum=file_system,enum=network_access,description=What callers should know; a flag grants nothing."`
	RequiresApproval bool              `json:"requires_approval,omitempty" jsonschema:"description=Somebody has to say yes before it runs. Refused where there are no approvals."`
	Tags             []string          `json:"tags,omitempty" jsonschema:"maxItems=20,description=Words to find the skill by."`
	Title            string            `json:"title,omitempty" jsonschema:"maxLength=200,description=The name that people see."`
	Changelog        string            `json:"changelog,omitempty" jsonschema:"maxLength=10000,description=What is new in this version."`
	Override         string            `json:"override,omitempty" jsonschema:"maxLength=10000,description=Why the version may be a smaller step than the changes ask for; without it such a version is refused."`
	Limits           Limits            `json:"limits,omitempty" jsonschema:"description=Of one run; what is not named has the server's default."`
	Capabilities     Capabilities      `json:"capabilities,omitempty" jsonschema:"description=What the skill may do beyond computing."`
	Environment      map[string]string `json:"environment,omitempty" jsonschema:"description=Values that the program finds in its environment."`
	Secrets          []string          `json:"secrets,omitempty" jsonschema:"description=Names of secrets of the workspace."`
	Dependencies     []string          `json:"dependencies,omitempty" jsonschema:"description=Packages; refused where none are installed."`
	Rules            *Rules            `json:"rules,omitempty" jsonschema:"description=Conventions that a Python program keeps\\, checked before and during a run."`
	Deterministic    bool              `json:"deterministic,omitempty" jsonschema:"description=The same input always gives the same output."`
}

// Limits has the limits of a run in the spelling of skill.yaml.
type Limits struct {
	TimeoutMs      int64 `json:"timeout_ms,omitempty" jsonschema:"minimum=1"`
	CPUMs          int64 `json:"cpu_ms,omitempty" jsonschema:"minimum=1"`
	MemoryBytes    int64 `json:"memory_bytes,omitempty" jsonschema:"minimum=1"`
	Processes      int64 `json:"processes,omitempty" jsonschema:"minimum=1"`
	OutputBytes    int64 `json:"output_bytes,omitempty" jsonschema:"minimum=1"`
	DiskBytes      int64 `json:"disk_bytes,omitempty" jsonschema:"minimum=1"`
	RecursionDepth int64 `json:"recursion_depth,omitempty" jsonschema:"minimum=1"`
}

// Capabilities has what a version is granted in the spelling of skill.yaml.
type Capabilities struct {
	Hosts         []string `json:"hosts,omitempty" jsonschema:"description=host:port\\, such as api.example.com:443."`
	HostFunctions []string `json:"host_functions,omitempty" jsonschema:"description=log and progress are always granted."`
	Subprocess    bool     `json:"subprocess,omitempty"`
}

// Rules names a rule pack and, where it has one, the list of modules that may be imported.
type Rules struct {
	Pack    string   `json:"pack" jsonschema:"enum=restricted,enum=none"`
	Imports []string `json:"imports,omitempty"`
}

// Schema returns the JSON Schema of skill.yaml, made from the Go type. Other members are allowed: skills of other houses
// carry words for their own planners.
func Schema() ([]byte, error) {
	reflector := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, DoNotReference: true, AllowAdditionalProperties: true}
	s := reflector.Reflect(Settings{})
	s.Title = "Atelier skill"
	s.Description = "skill.yaml: what a skill is. schema.json beside it says what it takes and gives."
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("make the schema of skill.yaml: %w", err)
	}
	return text, nil
}

// known lists the members of skill.yaml.
func known() []string {
	return []string{"name", "version", "description", "handler", "safety_flags", "requires_approval", "tags", "title", "changelog", "override",
		"limits", "capabilities", "environment", "secrets", "dependencies", "rules", "deterministic"}
}

// misspelt is the member that an unknown one was probably meant to be, "" if none.
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
