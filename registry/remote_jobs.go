package registry

import "encoding/json"

// RemoteJob is the job of an unfinished run at another service. A restarted server follows it with the handle.
type RemoteJob struct {
	RunID     string
	Workspace string
	Handle    string          // of the engine
	Request   json.RawMessage // the part of the run's request that its record does not have
}
