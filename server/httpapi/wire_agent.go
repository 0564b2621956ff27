package httpapi

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
)

// Agent is an agent with its draft.
type Agent struct {
	ID               string                    `json:"id"`
	Name             string                    `json:"name"`
	Title            string                    `json:"title"`
	Description      string                    `json:"description"`
	Tags             []string                  `json:"tags"`
	Metadata         json.RawMessage           `json:"metadata"`
	Listed           bool                      `json:"listed"`
	Origin           *Origin                   `json:"origin,omitempty" doc:"Agent that this agent was copied from."`
	LatestVersion    string                    `json:"latestVersion" doc:"Version that latest resolves to: the highest released version that is not deprecated, else the highest. Empty if there is none."`
	LatestDeprecated bool                      `json:"latestDeprecated,omitempty" doc:"true if all versions are deprecated."`
	UsageCount       int64                     `json:"usageCount"`
	LastUsedAt       *time.Time                `json:"lastUsedAt,omitempty" doc:"Time of the last run."`
	Draft            registry.Draft            `json:"draft"`
	Changelog        []registry.ChangelogEntry `json:"changelog" doc:"The last 100 entries, newest first. The list of versions contains all of them."`
	CreatedAt        time.Time                 `json:"createdAt"`
	UpdatedAt        time.Time                 `json:"updatedAt"`
}

// Origin is the version of the public registry from which an agent was copied.
type Origin struct {
	registry.Origin
	Publisher string `json:"publisher,omitempty" doc:"Workspace that lists the original in the registry; absent if it is not listed. Returned only for single agents."`
	Newer     string `json:"newer,omitempty" doc:"Latest version of the original, if it is higher than the copied version. Returned only for single agents."`
}

func originOf(a registry.Agent) *Origin {
	if a.Origin == nil {
		return nil
	}
	return &Origin{Origin: *a.Origin}
}

func agentOf(a registry.Agent) Agent {
	metadata := a.Metadata
	if len(metadata) == 0 {
		metadata = json.RawMessage(`{}`)
	}
	return Agent{
		ID: a.ID, Name: a.Name, Title: a.Title, Description: a.Description, Tags: orEmpty(a.Tags), Metadata: metadata, Listed: a.Listed, Origin: originOf(a),
		LatestVersion: a.LatestVersion, LatestDeprecated: a.LatestDeprecated, UsageCount: a.UsageCount, LastUsedAt: a.LastUsedAt, Draft: a.Draft, Changelog: orEmpty(a.Changelog), CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

// AgentSummary is an agent in a list.
type AgentSummary struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	Publisher        string            `json:"publisher,omitempty" doc:"Workspace that lists the agent in the public registry."`
	Title            string            `json:"title"`
	Description      string            `json:"description"`
	Tags             []string          `json:"tags"`
	Language         runtimes.Language `json:"language"`
	State            string            `json:"state" enum:"draft,published"`
	Listed           bool              `json:"listed"`
	LatestVersion    string            `json:"latestVersion" doc:"Version that latest resolves to."`
	LatestDeprecated bool              `json:"latestDeprecated,omitempty" doc:"true if all versions are deprecated."`
	UsageCount       int64             `json:"usageCount"`
	LastUsedAt       *time.Time        `json:"lastUsedAt,omitempty" doc:"Time of the last run."`
	LastRun          *registry.LastRun `json:"lastRun,omitempty" doc:"Newest run that succeeded, failed or timed out, of the draft or a version. Only in lists of the workspace's agents."`
	Unpublished      bool              `json:"unpublishedChanges" doc:"true if the draft differs from the latest version. Only in lists of the workspace's agents."`
	CreatedBy        *Person           `json:"createdBy,omitempty" doc:"Only in lists of the workspace's agents."`
	UpdatedBy        *Person           `json:"updatedBy,omitempty" doc:"Only in lists of the workspace's agents."`
	Revision         int64             `json:"revision"`
	CreatedAt        time.Time         `json:"createdAt"`
	UpdatedAt        time.Time         `json:"updatedAt"`
	DeletedAt        *time.Time        `json:"deletedAt,omitempty"`
	Deletion         *Deletion         `json:"deletion,omitempty" doc:"Person who deleted the agent, with the time and the reason."`
}

// Deletion contains the person who deleted an agent, and the reason.
type Deletion registry.Deletion

func agentSummaryOf(a registry.Agent) AgentSummary {
	state := "draft"
	if a.VersionCount > 0 { // Use the same condition as the filter of the list, because an agent may have only pre-releases.
		state = "published"
	}
	var deletion *Deletion
	if a.DeletedAt != nil {
		deletion = (*Deletion)(&a.Deletion)
	}
	return AgentSummary{
		ID: a.ID, Name: a.Name, Publisher: a.Publisher, Title: a.Title, Description: a.Description, Tags: orEmpty(a.Tags), Language: a.Draft.Language, State: state,
		Listed: a.Listed, LatestVersion: a.LatestVersion, LatestDeprecated: a.LatestDeprecated, UsageCount: a.UsageCount, LastUsedAt: a.LastUsedAt, Revision: a.Draft.Revision, CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
		LastRun: a.LastRun, Unpublished: a.Unpublished, DeletedAt: a.DeletedAt, Deletion: deletion,
	}
}

// agentBody is the body of POST and PUT. It is decoded into the input type of the studio layer. AgentBody describes its
// schema.
type agentBody struct{ agents.Input }

// Schema returns the schema of the body.
func (agentBody) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[AgentBody](), true, "AgentBody")
}

// MarshalJSON omits limits and capabilities that are not set. Without it, they would be written with their zero values.
func (b agentBody) MarshalJSON() ([]byte, error) {
	said := struct {
		agents.Input
		Capabilities *CapabilitiesBody `json:"capabilities,omitempty"`
		Limits       *AgentLimits      `json:"limits,omitempty"`
	}{Input: b.Input}
	if b.Capabilities != nil {
		said.Capabilities = &CapabilitiesBody{
			Hosts: b.Capabilities.Hosts, HostFunctions: b.Capabilities.HostFunctions, Subprocess: b.Capabilities.Subprocess, Tools: b.Capabilities.Tools, Files: (*FilesBody)(b.Capabilities.Files),
		}
	}
	if b.Limits != nil {
		limits := AgentLimits(*b.Limits)
		said.Limits = &limits
	}
	return json.Marshal(said)
}

// AgentBody describes an agent that is created or saved, with the fields of the draft and of the agent. When the agent
// is saved, missing fields keep their values; when it is created, they get the defaults.
type AgentBody struct {
	Name             string                   `json:"name,omitempty" doc:"A letter, followed by up to 62 of a-z, 0-9, - and _."`
	Title            string                   `json:"title,omitempty" doc:"Name for people."`
	Description      string                   `json:"description,omitempty" doc:"Says which output the agent returns for which input. Models read it to decide when to call the agent."`
	Tags             []string                 `json:"tags,omitempty" doc:"Words to find the agent by."`
	Metadata         map[string]any           `json:"metadata,omitempty" doc:"JSON object for any purpose of the client."`
	Language         runtimes.Language        `json:"language,omitempty" doc:"Language of the program."`
	Runtime          string                   `json:"runtime,omitempty" doc:"auto, or a runtime from GET /runtimes. Publishing replaces auto with a fixed runtime."`
	Isolation        runtimes.Isolation       `json:"isolation,omitempty" enum:",strict" doc:"strict uses a new process for each run. Empty means the default of the runtime."`
	Code             string                   `json:"code,omitempty" doc:"Shorthand for files with only the entry file."`
	Files            map[string]registry.File `json:"files,omitempty" doc:"Content of each file, by relative path."`
	Entrypoint       string                   `json:"entrypoint,omitempty" doc:"File with the main function of the program."`
	InputSchema      any                      `json:"inputSchema,omitempty" doc:"JSON Schema of the input."`
	OutputSchema     any                      `json:"outputSchema,omitempty" doc:"JSON Schema of the output."`
	Packages         []string                 `json:"packages,omitempty" doc:"Packages with versions, for example requests==2.32.3."`
	Environment      map[string]string        `json:"environment,omitempty" doc:"Environment variables of the program."`
	Secrets          []string                 `json:"secrets,omitempty" doc:"Names of secrets. Their values are stored in the workspace."`
	Capabilities     *CapabilitiesBody        `json:"capabilities,omitempty"`
	Limits           *AgentLimits             `json:"limits,omitempty"`
	SafetyFlags      []string                 `json:"safetyFlags,omitempty" doc:"Properties that callers should know, for example side_effect."`
	RequiresApproval bool                     `json:"requiresApproval,omitempty" doc:"An approver decides about each run."`
	Deterministic    bool                     `json:"deterministic,omitempty" doc:"Reserved: servers refuse true."`
	Rules            *RulesBody               `json:"rules,omitempty"`
	Tests            []registry.Test          `json:"tests,omitempty" doc:"Tests of the draft. They replace all earlier ones."`
	SchemaSources    *registry.SchemaSources  `json:"schemaSources,omitempty" doc:"Origin of new schemas, as returned by POST /infer. A new schema without a source is recorded as written by a person."`
}

// RulesBody restricts the language features that a program may use.
type RulesBody struct {
	Pack    string   `json:"pack" enum:"restricted,none" doc:"restricted: the program may import only listed modules, and must not create code from text, for example with eval. In Python it must not call open either. The rules are checked before and during the run. They are a convention; only the sandbox is a security boundary."`
	Imports []string `json:"imports,omitempty" doc:"Python modules that may be imported, instead of the pack's list."`
}

// CapabilitiesBody lists the permissions of a program beyond computing.
type CapabilitiesBody struct {
	Hosts         []string   `json:"hosts,omitempty" doc:"Hosts as host:port. A wildcard is allowed only as the leftmost label."`
	HostFunctions []string   `json:"hostFunctions,omitempty"`
	Subprocess    bool       `json:"subprocess,omitempty"`
	Tools         []string   `json:"tools,omitempty" doc:"References to the agents that the program may call, such as summarise@^1, at most one for each agent."`
	Files         *FilesBody `json:"files,omitempty"`
}

// FilesBody lets a program read the files of a project.
type FilesBody struct {
	Project string `json:"project" doc:"Name of the project. * means the project that a task sets."`
	Write   bool   `json:"write,omitempty" doc:"The program may also propose changes. A person accepts or rejects them."`
}

// LimitsBody sets the limits of one run. Times are in milliseconds, and sizes in bytes.
type LimitsBody struct {
	TimeoutMs      int64 `json:"timeoutMs,omitempty" minimum:"1"`
	CPUMs          int64 `json:"cpuMs,omitempty" minimum:"1"`
	MemoryBytes    int64 `json:"memoryBytes,omitempty" minimum:"1"`
	Processes      int64 `json:"processes,omitempty" minimum:"1"`
	OutputBytes    int64 `json:"outputBytes,omitempty" minimum:"1"`
	DiskBytes      int64 `json:"diskBytes,omitempty" minimum:"1"`
	RecursionDepth int64 `json:"recursionDepth,omitempty" minimum:"1"`
}

// AgentLimits contains the limits that an agent sets. 0 means that each run gets the server's default.
type AgentLimits struct {
	TimeoutMs      int64 `json:"timeoutMs,omitempty" minimum:"0"`
	CPUMs          int64 `json:"cpuMs,omitempty" minimum:"0"`
	MemoryBytes    int64 `json:"memoryBytes,omitempty" minimum:"0"`
	Processes      int64 `json:"processes,omitempty" minimum:"0"`
	OutputBytes    int64 `json:"outputBytes,omitempty" minimum:"0"`
	DiskBytes      int64 `json:"diskBytes,omitempty" minimum:"0"`
	RecursionDepth int64 `json:"recursionDepth,omitempty" minimum:"0"`
}

func (b *LimitsBody) limits() runtimes.Limits {
	if b == nil {
		return runtimes.Limits{}
	}
	return runtimes.Limits(*b)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
