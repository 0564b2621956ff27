package wire

// Order is the server's request to a launcher to start a child. The descriptors passed with it are the child's connection
// and the files through which the child joins its control groups.
type Order struct {
	ID   int64 `json:"id"`
	User int   `json:"user"` // user id in the launcher's namespace
	Disk int64 `json:"disk"` // bytes
}

// Notice is a launcher's message to the server about a child. It reports that the child is ready, with a pidfd of its
// process 1, or that the child is gone. If the child was never ready, Error is the reason.
type Notice struct {
	ID     int64  `json:"id"`
	Gone   bool   `json:"gone,omitempty"`
	Error  string `json:"error,omitempty"`
	Signal int    `json:"signal,omitempty"`
	Code   int    `json:"code,omitempty"`

	Orphaned bool `json:"-"` // set by the server itself, for children of a launcher that ended
}

// Sizes of messages in bytes.
const (
	MaxOrder  = 4 << 10
	MaxNotice = 16 << 10
	MaxPassed = 16 // maximum number of descriptors in one message
)
