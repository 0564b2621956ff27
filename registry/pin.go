package registry

import "time"

// Pin says that somebody references an agent. Reference is what was registered, Version what it stands for now, "" if
// for nothing any more.
type Pin struct {
	Owner      string    `json:"owner" doc:"Identifier of the owner."`
	Label      string    `json:"label" doc:"Display name of the owner."`
	AgentID    string    `json:"agentId"`
	Reference  string    `json:"reference"`
	Version    string    `json:"version" doc:"Version that the reference resolves to now. Empty if none."`
	Deprecated bool      `json:"deprecated"`
	CreatedAt  time.Time `json:"createdAt"`
}
