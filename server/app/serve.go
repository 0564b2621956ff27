package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

const (
	headerTimeout  = 5 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	farewell       = 5 * time.Second // for answers and sockets, after the last run has ended
)

// Listen takes the configured address. The error says what to do.
func (a *App) Listen(ctx context.Context) (net.Listener, error) {
	var l net.ListenConfig
	listener, err := l.Listen(ctx, "tcp", a.Config.Listen)
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return nil, fmt.Errorf("address %s is already in use; stop the other server, or choose another address with --listen", a.Config.Listen)
	case errors.Is(err, unix.EACCES):
		return nil, fmt.Errorf("no permission to listen on %s; choose a port above 1023 with --listen", a.Config.Listen)
	}
	if err != nil {
		return nil, err
	}
	a.engines.listeners.add(listener.Addr())
	return listener, nil
}

// Serve answers requests until ctx ends. Then it takes no new ones, lets running programs go on for the configured
// grace, interrupts the rest, and returns when every run is recorded and every answer sent.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	closeDebug, err := a.serveDebug(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer closeDebug()
	server := &http.Server{
		Handler: a.handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	a.drain(context.WithoutCancel(ctx), server)
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// drain ends a server without losing what it began.
func (a *App) drain(ctx context.Context, server *http.Server) {
	a.Log.LogAttrs(ctx, slog.LevelInfo, "stopping", slog.Int("runs", a.runs.Live()))
	limit, cancel := context.WithTimeout(ctx, a.Config.ShutdownGrace+farewell)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- server.Shutdown(limit) }()
	a.awaitRuns(ctx)
	a.runs.Close() // interrupts and records what is left; their callers are answered
	sockets, cut := context.WithTimeout(ctx, farewell)
	defer cut()
	a.stream.Close(sockets)
	if err := <-answered; err != nil {
		a.Log.LogAttrs(ctx, slog.LevelWarn, "closed connections of slow clients", slog.Any("error", err))
		_ = server.Close() // the listener is closed already
	}
	a.Log.LogAttrs(ctx, slog.LevelInfo, "stopped")
}

// awaitRuns gives running programs their grace.
func (a *App) awaitRuns(ctx context.Context) {
	grace, cancel := context.WithTimeout(ctx, a.Config.ShutdownGrace)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for a.runs.Live() > 0 {
		select {
		case <-tick.C:
		case <-grace.Done():
			return
		}
	}
}

// Handler is the whole server as a handler, for callers in the same process.
func (a *App) Handler() http.Handler { return a.handler }

// URL is how this machine reaches the server at an address that it listens on.
func (a *App) URL(listening net.Addr) string {
	if a.Config.PublicURL != "" {
		return a.Config.PublicURL
	}
	return localURL(listening) + a.Config.BasePath
}

// localURL names a loopback address for a server that listens on all.
func localURL(listening net.Addr) string {
	addr, err := netip.ParseAddrPort(listening.String())
	if err != nil {
		return "http://" + listening.String()
	}
	switch ip := addr.Addr(); {
	case ip.IsUnspecified() && ip.Is6():
		addr = netip.AddrPortFrom(netip.IPv6Loopback(), addr.Port())
	case ip.IsUnspecified():
		addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), addr.Port())
	}
	return "http://" + addr.String()
}

// names are the host names by which the server may be reached. All interfaces are no name: browsers take 0.0.0.0 for
// this machine, whichever page asks.
func (a *App) names() []string {
	names := append([]string(nil), a.Config.Hosts...)
	host, _, err := net.SplitHostPort(a.Config.Listen)
	if err != nil || host == "" {
		return names
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		return names
	}
	return append(names, host)
}
