package registry

import (
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// AgentFilter narrows a list of agents; zero fields do not narrow it. State is "draft" (never published), "published"
// or "deleted"; only "deleted" lists tombstones. Order is "name" (also the meaning of "") or "updated", newest first.
type AgentFilter struct {
	Query    string
	Language runtimes.Language
	Tag      string
	State    string
	InCode   bool // the query also searches the draft's code
	// UnusedSince keeps the agents that were created before this time and have not run since.
	UnusedSince time.Time
	View        AgentView
	Viewer      string // ID of the actor for MineView
	Order       string
	Cursor      string
	Limit       int // 1 to 200; 0 means 50
}

// AgentView selects the agents that need a person's attention.
type AgentView string

// The views of a list of agents.
const (
	MineView    AgentView = "mine"    // created by the viewer
	ChangedView AgentView = "changed" // the draft was saved after its latest version was published
	FailingView AgentView = "failing" // the last run that succeeded or failed has failed
)

// LastRun is the newest run of an agent that succeeded, failed or timed out, of its draft or of a version.
type LastRun struct {
	Status Status    `json:"status"`
	At     time.Time `json:"at"`
}

// AgentPage is one page of agents without their files. NextCursor is "" on the last page.
type AgentPage struct {
	Items      []Agent
	NextCursor string
}

// TagCount is a tag and the number of agents that have it.
type TagCount struct {
	Tag   string `json:"tag" bun:"tag"`
	Count int    `json:"count" bun:"count"`
}

// RunFilter narrows a list of runs; zero fields do not narrow it.
type RunFilter struct {
	Agent   string // name or ID
	Version string
	Status  Status
	Parent  string // ID of the run that started them
	Since   time.Time
	Cursor  string
	Limit   int // 1 to 200; 0 means 50
}

// RunPage is one page of runs, newest first, without input, output and program output.
type RunPage struct {
	Items      []Run
	NextCursor string
}
