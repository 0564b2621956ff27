package store

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// signalChannel is the channel of PostgreSQL's NOTIFY. Triggers in the database schema also send messages on this
	// channel.
	signalChannel = "atelier"
	// listenAgain is the delay before the next attempt to listen.
	listenAgain = time.Second
	// listenCheck is the time without messages after which the server checks the connection.
	listenCheck = 5 * time.Second
)

// Signal is a message from another server that shares the database.
type Signal struct {
	Kind    string
	Subject string
	From    string // name of the sending server, "" if the sender is not a server
	Data    string
}

// serverName returns the name of this server's connections. Triggers add this name to their messages.
func (s *Store) serverName() string { return "atelier-" + s.ServerID() }

// Signal sends a message to the other servers that share the database. While a server is not connected, it receives no
// messages. So a message only tells a server to read the database again.
func (s *Store) Signal(ctx context.Context, kind, subject string) error {
	if s.member == nil {
		return nil
	}
	_, err := s.write.ExecContext(ctx, "SELECT pg_notify(?, ?)", signalChannel, kind+" "+subject+" "+s.serverName())
	return wrap("notify other servers", err)
}

// Listen calls handle for each message of another server until ctx ends. It calls missed if messages may have been
// lost: when it begins to listen, and every second while it cannot listen.
func (s *Store) Listen(ctx context.Context, handle func(Signal), missed func(listening bool)) {
	cut := false
	for ctx.Err() == nil {
		err := s.listen(ctx, func() {
			if cut {
				s.log.LogAttrs(ctx, slog.LevelInfo, "messages of other servers are received again")
			}
			cut = false
			missed(true)
		}, handle)
		if ctx.Err() != nil {
			return
		}
		if !cut {
			s.log.LogAttrs(ctx, slog.LevelWarn, "messages of other servers cannot be received; caches are refreshed every second", slog.Any("error", err))
		}
		cut = true
		missed(false)
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
		}
	}
}

// listen receives messages until ctx ends or the connection fails.
func (s *Store) listen(ctx context.Context, began func(), handle func(Signal)) error {
	opening, cancel := context.WithTimeout(probing(ctx), watchFor)
	defer cancel()
	conn, err := s.exclusive.connect(opening)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the connection writes nothing, so an error does not matter
	if _, err := conn.Exec(opening, "LISTEN "+signalChannel); err != nil {
		return err
	}
	began()
	for {
		if err := s.receive(ctx, conn, handle); err != nil {
			return err
		}
	}
}

// receive waits for a message and handles it. If no message arrives within listenCheck, it checks the connection.
func (s *Store) receive(ctx context.Context, conn *pgx.Conn, handle func(Signal)) error {
	waiting, cancel := context.WithTimeout(ctx, listenCheck)
	message, err := conn.WaitForNotification(waiting)
	silent := waiting.Err() != nil
	cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !silent {
		return err
	}
	if err != nil {
		asking, cancel := context.WithTimeout(ctx, watchFor)
		defer cancel()
		return conn.Ping(asking)
	}
	if one := signalOf(message.Payload); one.From != s.serverName() {
		handle(one)
	}
	return nil
}

// signalOf parses a message: kind, subject, sender and optional data, separated by spaces.
func signalOf(payload string) Signal {
	fields := append(strings.SplitN(payload, " ", 4), "", "", "", "")
	return Signal{Kind: fields[0], Subject: fields[1], From: fields[2], Data: fields[3]}
}
