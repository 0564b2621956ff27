package gate

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// recover converts a panic to an internal error and logs its stack. The server continues to run.
func (g *Gate) recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if aborted, ok := cause.(error); ok && errors.Is(aborted, http.ErrAbortHandler) {
				panic(cause)
			}
			err := fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
			if a, ok := w.(*answer); ok && (a.status != 0 || a.hijacked) {
				g.Log.LogAttrs(r.Context(), slog.LevelError, "panic in the middle of an answer", slog.Any("error", err))
				panic(http.ErrAbortHandler) // Abort the connection, so that a truncated answer does not look complete.
			}
			g.Refuse.Write(w, r, err)
		}()
		next.ServeHTTP(w, r)
	})
}
