package registry

import "time"

// Pin records that an owner references an agent. Reference is the registered reference. Version is the version it
// resolves to now, "" if it resolves to none.
type Pin struct {
	Owner      string    `json:"owner" doc:"Identifier of the owner."`
	Label      string    `json:"label" doc:"Display name of the owner."`
	AgentID    string    `json:"agentId"`
	Reference  string    `json:"reference"`
	Version    string    `json:"version" doc:"Version that the reference resolves to now. Empty if none."`
	Deprecated bool      `json:"deprecated"`
	CreatedAt  time.Time `json:"createdAt"`
}
