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

	"github.com/atelier-run/atelier/server/framing"
)

const (
	headerTimeout  = 5 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	farewell       = 5 * time.Second // time limit for sending the last answers after the last run has ended
)

// Listen opens the configured address. If that fails, the error explains the fix.
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

// Serve answers requests until ctx ends. It then stops in three steps. First, /ready answers 503 during the configured
// delay, while other requests are still answered, so that load balancers notice the 503. Then Serve accepts no new
// requests, and waits for running programs during the configured grace period. Finally it interrupts the remaining
// programs. It returns when every run is stored and every answer is sent.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	closeDebug, err := a.serveDebug(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer closeDebug()
	server := &http.Server{
		Handler: a.handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ConnContext: limitSendBuffer, ConnState: newIdleConns(maxIdle).note,
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelDebug),
	}
	listener = framing.Watch(server, listener)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	finish, interrupt := a.serveKafka(ctx)
	defer interrupt()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	if err := a.leave(failed); err != nil {
		return err
	}
	a.drain(context.WithoutCancel(ctx), server, finish)
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// leave makes /ready answer 503 and waits, so that load balancers send no further requests.
func (a *App) leave(failed <-chan error) error {
	a.draining.Store(true)
	if a.Config.DrainDelay == 0 {
		return nil
	}
	delay := time.NewTimer(a.Config.DrainDelay)
	defer delay.Stop()
	a.Log.LogAttrs(context.Background(), slog.LevelInfo, "draining: /ready answers 503", slog.Duration("listeners_close_in", a.Config.DrainDelay))
	select {
	case <-delay.C:
		return nil
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	}
}

// sendBuffer is the size in bytes of a connection's send buffer in the kernel. Without it, a client that does not read
// would use several megabytes of memory. The kernel doubles the value.
const sendBuffer = 512 << 10

func limitSendBuffer(ctx context.Context, conn net.Conn) context.Context {
	if tcp, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok { // This is a TCP connection, or a wrapper of one.
		_ = tcp.SetWriteBuffer(sendBuffer) // Without the limit, the connection still works.
	}
	return ctx
}

// drain shuts down the server. It first waits for runs and answers that the server has already accepted.
func (a *App) drain(ctx context.Context, server *http.Server, finishKafka func(context.Context)) {
	a.Log.LogAttrs(ctx, slog.LevelInfo, "stopping", slog.Int("runs", a.runs.Live()))
	a.changes.Close() // End the streams of changes, which would otherwise stay open.
	limit, cancel := context.WithTimeout(ctx, a.Config.ShutdownGrace+farewell)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- server.Shutdown(limit) }()
	a.awaitRuns(ctx)
	a.runs.Close() // Interrupt and store the remaining runs; their callers get an answer.
	sockets, cut := context.WithTimeout(ctx, farewell)
	defer cut()
	finishKafka(sockets)
	a.stream.Close(sockets)
	if err := <-answered; err != nil {
		a.Log.LogAttrs(ctx, slog.LevelWarn, "closed connections of slow clients", slog.Any("error", err))
		_ = server.Close() // The listener is already closed.
	}
	a.Log.LogAttrs(ctx, slog.LevelInfo, "stopped")
}

// awaitRuns waits for running programs during the grace period.
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

// Handler returns the HTTP handler of all routes, for callers in the same process.
func (a *App) Handler() http.Handler { return a.handler }

// URL returns the address at which programs on this machine reach the server.
func (a *App) URL(listening net.Addr) string {
	if a.Config.PublicURL != "" {
		return a.Config.PublicURL
	}
	return localURL(listening) + a.Config.BasePath
}

// localURL returns the URL of an address. For a server that listens on all interfaces, it uses a loopback address.
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

// names returns the host names that requests may use. These are the configured names and the name in the listen
// address. The address of all interfaces is not allowed, because browsers let any page reach this machine as 0.0.0.0.
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
