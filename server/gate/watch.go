package gate

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// ErrEnded is why the context of a stream ends when its reader has lost the right to it.
var ErrEnded = errors.New("access to this stream ended: the session, token or role is no longer valid")

// lasts reports whether a request may be answered for as long as a run takes, event by event.
func lasts(r *http.Request) bool {
	return upgrades(r) || strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// watch returns a context that ends when the caller of a request may no longer make it: whoever logs out, is revoked or
// loses a role reads nothing more, also of what was opened before. done is to be called at the end of the request.
func (g *Gate) watch(ctx context.Context, r *http.Request) (watched context.Context, done func()) {
	watched, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(g.Recheck)
		defer tick.Stop()
		for {
			changed := g.Rights.Changed() // before looking: no change is missed
			if lost(g.still(r)) {
				cancel(ErrEnded)
				return
			}
			select {
			case <-changed:
			case <-tick.C:
			case <-watched.Done():
				return
			}
		}
	}()
	return watched, func() {
		cancel(nil)
		<-ended
	}
}

// still is nil while a request could be made anew.
func (g *Gate) still(r *http.Request) error {
	caller, _, err := g.known(r)
	if err != nil {
		return err
	}
	return g.permit(r, caller.Caller)
}

// lost says whether an error takes the right to a stream. What only kept the gate from looking, such as a busy database,
// takes none: the next look is as good.
func lost(err error) bool { return err != nil && !fault.Is(err, fault.Internal) }
