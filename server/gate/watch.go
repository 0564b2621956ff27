package gate

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

// ErrEnded is the cause with which a stream's context is cancelled when the reader has lost access.
var ErrEnded = errors.New("access to this stream ended: the session, token or role is no longer valid")

// lasts reports whether a request is for an event stream, which may last as long as a run.
func lasts(r *http.Request) bool {
	follows := r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/v1/code-agents/") && strings.HasSuffix(r.URL.Path, "/events")
	return follows || upgrades(r) || strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// watch returns a context that is cancelled when the caller may no longer make the request. This way, signing out,
// revoking a token or removing a role also ends open streams. The caller must call done at the end of the request.
func (g *Gate) watch(ctx context.Context, r *http.Request) (watched context.Context, done func()) {
	watched, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(g.Recheck)
		defer tick.Stop()
		for {
			changed := g.Rights.Changed() // Get the channel before the check, so that no change is missed.
			if notAnswered(g.still(r)) {
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

// still checks the request again. It returns nil if the request would be permitted now, else the error.
func (g *Gate) still(r *http.Request) error {
	caller, _, err := g.known(r)
	if err != nil {
		return err
	}
	return g.permit(r, caller.Caller)
}

// notAnswered reports whether an error of still means that access to the stream was lost. Errors that only prevented
// the check do not count, for example a busy database or an unavailable OpenID provider; the check is repeated later.
func notAnswered(err error) bool {
	return err != nil && !fault.Is(err, fault.Internal) && !fault.Is(err, fault.ProviderUnavailable)
}
