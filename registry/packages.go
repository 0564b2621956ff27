package registry

import (
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// PackageLock is the lock that belongs to one list of packages of a draft, or of inline programs.
type PackageLock struct {
	Workspace string
	AgentID   string // "" for inline programs
	List      string // digest of the list
	Lock      runtimes.Lock
	CreatedAt time.Time
	UsedAt    time.Time
}

// VersionLock is the lock of a version.
type VersionLock struct {
	LockUser
	Lock runtimes.Lock
}

// LockUser is a version that has a lock.
type LockUser struct {
	AgentID string `json:"agentId"`
	Agent   string `json:"agent"`
	Version string `json:"version"`
}
