package registry

// Origin is the version of the public registry that an agent was copied from.
type Origin struct {
	AgentID string `json:"agentId"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}
