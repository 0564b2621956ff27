package registry

import (
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// PackageLock is the lock for one list of packages, of a draft or of inline programs.
type PackageLock struct {
	Workspace string
	AgentID   string // "" for inline programs
	List      string // digest of the list of packages
	Lock      runtimes.Lock
	CreatedAt time.Time
	UsedAt    time.Time
}

// VersionLock is a version with its package lock.
type VersionLock struct {
	LockUser
	Lock runtimes.Lock
}

// LockUser identifies a version that has a package lock.
type LockUser struct {
	AgentID string `json:"agentId"`
	Agent   string `json:"agent"`
	Version string `json:"version"`
}
