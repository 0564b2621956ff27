package registry

import "time"

// Pin says that somebody references an agent. Reference is what was registered, Version what it stands for now, "" if
// for nothing any more.
type Pin struct {
	Owner      string    `json:"owner" doc:"The identifier that the owner chose."`
	Label      string    `json:"label" doc:"What people call the owner."`
	AgentID    string    `json:"agentId"`
	Reference  string    `json:"reference"`
	Version    string    `json:"version" doc:"What the reference stands for now; empty if for nothing."`
	Deprecated bool      `json:"deprecated"`
	CreatedAt  time.Time `json:"createdAt"`
}
