package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
)

// serveDebug serves profiles of this process on the configured loopback address, if one is configured. The public
// address does not serve profiles, because a profile reveals the runs of other people and costs CPU time.
func (a *App) serveDebug(ctx context.Context) (closeDebug func(), err error) {
	if a.Config.DebugListen == "" {
		return func() {}, nil
	}
	var l net.ListenConfig
	listener, err := l.Listen(ctx, "tcp", a.Config.DebugListen)
	if err != nil {
		return nil, fmt.Errorf("listen for profiles: %w", err)
	}
	a.engines.listeners.add(listener.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // Serve ends when the server is closed.
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
