package registry

import (
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// AgentFilter selects agents for a list. A zero field selects all agents. State is "draft" (never published),
// "published" or "deleted". Deleted agents appear only with the state "deleted". Order is "name" or "updated" (newest
// first); "" means "name".
type AgentFilter struct {
	Query    string
	Language runtimes.Language
	Tag      string
	State    string
	InCode   bool // the query also searches the draft's code
	// UnusedSince selects the agents that were created before this time and have not run since then.
	UnusedSince time.Time
	View        AgentView
	Viewer      string // ID of the actor whose agents MineView selects
	Order       string
	Cursor      string
	Limit       int // 1 to 200; 0 means 50
}

// AgentView selects the agents that need a person's attention.
type AgentView string

// These are the values of AgentView.
const (
	MineView    AgentView = "mine"    // agents that the viewer created
	ChangedView AgentView = "changed" // agents whose draft was saved after the latest version was published
	FailingView AgentView = "failing" // agents whose newest succeeded or failed run is a failed one
)

// LastRun is the newest run of an agent that succeeded, failed or timed out. It may be a run of the draft or of a
// version.
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

// RunFilter selects runs for a list. A zero field selects all runs.
type RunFilter struct {
	Agent   string // name or ID of the agent
	Version string
	Status  Status
	Parent  string // ID of the run that started the selected runs
	Since   time.Time
	Cursor  string
	Limit   int // 1 to 200; 0 means 50
}

// RunPage is one page of runs, newest first, without input, output and program output.
type RunPage struct {
	Items      []Run
	NextCursor string
}
