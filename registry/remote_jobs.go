package registry

import "encoding/json"

// RemoteJob is the job of an unfinished run at another service. A restarted server finds the job again by its handle.
type RemoteJob struct {
	RunID     string
	Workspace string
	Handle    string          // identifies the job to its engine
	Request   json.RawMessage // the part of the run's request that its record does not have
}
