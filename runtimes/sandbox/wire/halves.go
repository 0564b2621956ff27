package wire

import (
	"errors"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// Halves is a filter in two parts, for fork servers. The kernel verifies and compiles a filter each time a process installs
// it. So the fork server installs the larger part once, and its children inherit it.
type Halves struct {
	// The fork server installs this part before it forks, and its children inherit it.
	Server []byte `json:"server,omitempty"`
	Child  []byte `json:"child,omitempty"` // each child installs this part as its last step
}

// ErrHalf is the error for a set-up with only one of the two parts of a filter.
var ErrHalf = errors.New("a part of the filter is missing")

// Check returns ErrHalf if only one of the two parts is present.
func (h Halves) Check() error {
	if (len(h.Server) > 0) != (len(h.Child) > 0) {
		return ErrHalf
	}
	return nil
}

// ErrCgo is the error for which process 1 exits with ExitCgo.
var ErrCgo = errors.New("a binary that is linked with cgo cannot drop privileges on all of its threads")

// CompileHalves compiles the two parts of a policy's filter. The server calls it once per policy.
func CompileHalves(policy seccomp.Policy) (h Halves, err error) {
	server, child := seccomp.Forks(policy)
	if h.Server, err = seccomp.Encode(server); err != nil {
		return Halves{}, err
	}
	h.Child, err = seccomp.Encode(child)
	return h, err
}
