package registry

import "encoding/json"

// RemoteJob is the job at another service that executes an unfinished run. A server that restarts finds the job by its
// handle.
type RemoteJob struct {
	RunID     string
	Workspace string
	Handle    string          // identifies the job at the remote service
	Request   json.RawMessage // the parts of the run's request that are not in the run's record
}
