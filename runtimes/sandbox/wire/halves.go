package wire

import (
	"errors"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// Halves holds a filter in two parts, for fork servers. The kernel checks and compiles each installed filter again for
// each process. So the fork server installs the larger part once.
type Halves struct {
	Server []byte `json:"server,omitempty"` // installed by the fork server before it forks, and inherited
	Child  []byte `json:"child,omitempty"`  // installed by each child as its last step
}

// ErrHalf reports one half of a filter without the other.
var ErrHalf = errors.New("a part of the filter is missing")

// Check rejects one half without the other.
func (h Halves) Check() error {
	if (len(h.Server) > 0) != (len(h.Child) > 0) {
		return ErrHalf
	}
	return nil
}

// ErrCgo is the reason of ExitCgo.
var ErrCgo = errors.New("a binary that is linked with cgo cannot drop privileges on all of its threads")

// CompileHalves compiles the two parts of a filter. It runs in the server, once.
func CompileHalves(policy seccomp.Policy) (h Halves, err error) {
	server, child := seccomp.Forks(policy)
	if h.Server, err = seccomp.Encode(server); err != nil {
		return Halves{}, err
	}
	h.Child, err = seccomp.Encode(child)
	return h, err
}
