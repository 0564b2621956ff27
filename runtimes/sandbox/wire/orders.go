package wire

// Order asks a launcher for a child. Its descriptors are the child's connection and the files by which the child joins
// its control groups.
type Order struct {
	ID   int64 `json:"id"`
	User int   `json:"user"` // user id in the launcher's namespace
	Disk int64 `json:"disk"` // bytes
}

// Notice reports the state of a child to the server: ready, with a handle on its process 1, or gone. If the child was
// never ready, the notice holds the reason.
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
