package registry

import "time"

// LatestVersion identifies the newest version of an agent, in a list of all agents.
type LatestVersion struct {
	ID         string // ID of the version
	AgentID    string
	Agent      string // current name of the agent
	Deprecated bool
}

// ToolSet pins several versions under one name. Its tools change only when a person edits the set.
type ToolSet struct {
	ID          string    `json:"id"`
	Workspace   string    `json:"-"`
	Name        string    `json:"name"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Tools       []SetTool `json:"tools"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	UpdatedBy   string    `json:"updatedBy" doc:"Name or ID of the person or token that last changed the set."`
}

// SetTool is one pinned version of a tool set.
type SetTool struct {
	AgentID string `json:"agentId"`
	Name    string `json:"name" doc:"Name of the tool, which is the name of the agent when it was pinned."`
	Version string `json:"version"`
	Digest  string `json:"digest"`
	Missing bool   `json:"missing,omitempty" doc:"true if the version has been deleted."`

	// The following fields describe the current state of the version. The store sets them only when it reads a single tool
	// set.
	Deprecated bool   `json:"deprecated,omitempty" doc:"true if the version is deprecated."`
	Reason     string `json:"reason,omitempty" doc:"Reason of the deprecation."`
	Successor  string `json:"successor,omitempty" doc:"Reference to use instead."`
	Newest     string `json:"newest,omitempty" doc:"Version that latest resolves to now, if it differs from the pinned version."`
}
