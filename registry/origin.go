package registry

// Origin is the version of the public registry from which an agent was copied.
type Origin struct {
	AgentID string `json:"agentId"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}
