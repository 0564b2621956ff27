// Package streamapi serves WebSockets. It sends the events of one run, one event per frame. Clients must not send
// messages. A client that sends a message or reads too slowly is disconnected with a reason. It may reconnect and
// continue after the last event that it received.
package streamapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
)

// Follower reads the events of a run one by one. After the result, Next returns io.EOF.
type Follower interface {
	Next(ctx context.Context) (runtimes.Event, error)
}

// Follow returns a reader of a run's events after the seq from.
type Follow func(ctx context.Context, actor registry.Actor, run string, from int64) (Follower, error)

// Options configures an API. A zero duration means the default. Tests set short durations.
type Options struct {
	Follow Follow
	Refuse problem.Writer
	Slow   time.Duration // maximum time in which a client must read one frame; if it takes longer, it is disconnected with a reason; default 5 s
	Write  time.Duration // maximum time in which a client must read 64 KiB; if it takes longer, it is disconnected without a reason; default 10 s
	Ping   time.Duration // interval of pings; default 20 s
}

// API serves WebSockets.
type API struct {
	Options
	upgrader websocket.Upgrader
	mu       sync.Mutex // guards closed; it also ensures that open.Add is called before open.Wait
	closed   bool
	open     sync.WaitGroup
	stopping context.Context
	stop     context.CancelFunc
}

const (
	protocol    = "13"        // version of the WebSocket protocol
	maxFromPeer = 512         // maximum size in bytes of a message from the client
	farewell    = time.Second // maximum time to wait for the client's part of the closing handshake
)

// New returns an API.
func New(o Options) *API {
	o.Slow, o.Write, o.Ping = or(o.Slow, 5*time.Second), or(o.Write, 10*time.Second), or(o.Ping, 20*time.Second)
	d := &API{Options: o}
	d.stopping, d.stop = context.WithCancel(context.Background())
	d.upgrader = websocket.Upgrader{
		HandshakeTimeout: 5 * time.Second, ReadBufferSize: 1024, WriteBufferSize: 16 << 10,
		CheckOrigin: func(*http.Request) bool { return true }, // The gate checks the origin.
		Error: func(w http.ResponseWriter, r *http.Request, _ int, reason error) {
			o.Refuse.Write(w, r, &fault.Error{Code: fault.BadRequest, Message: "The WebSocket handshake is not valid.", Err: reason})
		},
	}
	return d
}

// Close waits until open sockets have sent their remaining events, at most until ctx ends. Then it closes the sockets
// with a reason, and waits until all are closed. The runs have ended by then, so a client that reads fast enough
// receives the result.
func (d *API) Close(ctx context.Context) {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	cut := context.AfterFunc(ctx, d.stop)
	defer cut()
	d.open.Wait()
	d.stop()
}

func or(value, otherwise time.Duration) time.Duration {
	if value == 0 {
		return otherwise
	}
	return value
}

// ServeHTTP streams the run that the path names, and starts after the seq in the query. Before the upgrade, it returns
// errors like any other route.
func (d *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	run := chi.URLParam(r, "run")
	caller, _ := gate.CallerOf(r.Context())
	from, err := seqOf(r.URL.Query().Get("from"))
	if err != nil {
		d.Refuse.Write(w, r, err)
		return
	}
	events, err := d.Follow(r.Context(), caller.Actor, run, from)
	if err != nil {
		d.Refuse.Write(w, r, err)
		return
	}
	telemetry.Note(r.Context(), slog.String("run_id", run))
	if !d.enter() {
		d.Refuse.Write(w, r, fault.New(fault.ShuttingDown, "The server is shutting down. Try again later."))
		return
	}
	defer d.open.Done()
	if !websocket.IsWebSocketUpgrade(r) || r.Header.Get("Sec-WebSocket-Version") != protocol {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Sec-WebSocket-Version", protocol)
		d.Refuse.Write(w, r, fault.New(fault.UpgradeRequired, "This endpoint is a WebSocket. Use the same path with /events for the events as JSON."))
		return
	}
	conn, err := d.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // The upgrader has sent the error.
	}
	d.serve(r.Context(), conn, events)
}

// enter counts an open socket. If the API is closed, it returns false.
func (d *API) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.open.Add(1)
	}
	return !d.closed
}

func seqOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 0 {
		return 0, fault.New(fault.BadRequest, "from must be the seq of an event.")
	}
	return seq, nil
}

// These are the reasons to end a connection, in addition to those that the client causes.
var (
	errSpoke    = errors.New("the client sent data")
	errStopping = errors.New("the server is shutting down")
)

// serve sends events until there are no more. A second goroutine reads from the connection, to detect that the client
// has disconnected or sent a message. This goroutine ends when the connection is closed, and serve waits for it.
func (d *API) serve(ctx context.Context, conn *websocket.Conn, events Follower) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.stopping, func() { cancel(errStopping) })()
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		cancel(d.listen(conn))
	}()
	if end := d.send(ctx, conn, events); end.code != 0 {
		message := websocket.FormatCloseMessage(end.code, end.reason)
		if conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(farewell)) == nil {
			wait(listening, farewell)
		}
	}
	_ = conn.Close() // Ignore the error: only the closing handshake could fail.
	<-listening
}

func wait(ended <-chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}

// listen reads from the connection until the client disconnects or sends a message. It returns the reason for which the
// connection ends.
func (d *API) listen(conn *websocket.Conn) error {
	conn.SetReadLimit(maxFromPeer)
	alive := func(string) error { return conn.SetReadDeadline(time.Now().Add(2*d.Ping + d.Write)) }
	conn.SetPongHandler(alive)
	if err := alive(""); err != nil {
		return err
	}
	_, _, err := conn.NextReader()
	if err == nil || errors.Is(err, websocket.ErrReadLimit) {
		return errSpoke
	}
	return err
}

// end describes how a connection is closed. The code 0 means that the client has already disconnected.
type end struct {
	code   int
	reason string
}

// send writes events. It also sends regular pings, even while events arrive, because only pongs show that the client is
// connected.
func (d *API) send(ctx context.Context, conn *websocket.Conn, events Follower) end {
	ping := time.Now().Add(d.Ping)
	for {
		event, err := d.next(ctx, conn, events, &ping)
		switch {
		case ctx.Err() != nil:
			return endFor(context.Cause(ctx))
		case errors.Is(err, io.EOF):
			return end{websocket.CloseNormalClosure, "the run has finished"}
		case fault.Is(err, fault.TooManyRequests):
			return end{websocket.CloseTryAgainLater, "the server is busy; resume with from"}
		case err != nil:
			return end{websocket.CloseInternalServerErr, "internal error; resume with from"}
		}
		began := time.Now()
		if err := d.write(conn, event); err != nil {
			return end{} // A frame may be partly written, so no close frame can follow.
		}
		if time.Since(began) > d.Slow && event.Kind != runtimes.KindResult {
			return end{websocket.CloseTryAgainLater, "reader is too slow; resume with from=" + strconv.FormatInt(event.Seq, 10)}
		}
	}
}

func endFor(cause error) end {
	switch {
	case errors.Is(cause, errSpoke):
		return end{websocket.ClosePolicyViolation, "this socket accepts no messages"}
	case errors.Is(cause, gate.ErrEnded):
		return end{websocket.ClosePolicyViolation, gate.ErrEnded.Error()}
	case errors.Is(cause, errStopping):
		return end{websocket.CloseGoingAway, "the server is shutting down; resume with from"}
	}
	return end{}
}

// next waits for an event. While it waits, it sends pings at their interval.
func (d *API) next(ctx context.Context, conn *websocket.Conn, events Follower, ping *time.Time) (runtimes.Event, error) {
	for {
		if now := time.Now(); !now.Before(*ping) {
			*ping = now.Add(d.Ping)
			if err := conn.WriteControl(websocket.PingMessage, nil, now.Add(d.Write)); err != nil {
				return runtimes.Event{}, err
			}
		}
		waiting, cancel := context.WithDeadline(ctx, *ping)
		event, err := events.Next(waiting)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return event, err
		}
	}
}

// write sends one event without escaping <, > and &.
func (d *API) write(conn *websocket.Conn, event runtimes.Event) error {
	if err := conn.SetWriteDeadline(time.Now().Add(d.Write)); err != nil {
		return err
	}
	frame, err := conn.NextWriter(websocket.TextMessage)
	if err != nil {
		return err
	}
	if err := event.WriteJSON(&patient{frame, conn, d.Write}); err != nil {
		return err
	}
	return frame.Close()
}

// patient is a writer that sends a frame in parts. It sets a new write deadline for each part.
type patient struct {
	frame io.Writer
	conn  *websocket.Conn
	each  time.Duration
}

func (w *patient) Write(p []byte) (int, error) {
	const part = 64 << 10
	written := 0
	for len(p) > 0 {
		if err := w.conn.SetWriteDeadline(time.Now().Add(w.each)); err != nil {
			return written, err
		}
		n, err := w.frame.Write(p[:min(part, len(p))])
		written += n
		if err != nil {
			return written, err
		}
		p = p[n:]
	}
	return written, nil
}
