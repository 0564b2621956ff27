package registry

import "time"

// Pin records that an owner, for example a workflow, references an agent. Reference is the reference as the owner
// registered it. Version is the version to which the reference resolves now, or "" if it does not resolve.
type Pin struct {
	Owner      string    `json:"owner" doc:"Identifier of the owner."`
	Label      string    `json:"label" doc:"Display name of the owner."`
	AgentID    string    `json:"agentId"`
	Reference  string    `json:"reference"`
	Version    string    `json:"version" doc:"Version that the reference resolves to now. Empty if there is none."`
	Deprecated bool      `json:"deprecated"`
	CreatedAt  time.Time `json:"createdAt"`
}
