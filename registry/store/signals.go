package store

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// signalChannel is the channel of PostgreSQL's NOTIFY. Triggers in the schema send on it too.
	signalChannel = "atelier"
	// listenAgain is the time between attempts to listen.
	listenAgain = time.Second
	// listenCheck is the time after which a silent connection is asked for an answer.
	listenCheck = 5 * time.Second
)

// Signal is a message from another server of the database.
type Signal struct {
	Kind    string
	Subject string
	From    string // the other server, "" for a program that is no server
	Data    string
}

// serverName is the name of this server's connections, which triggers add to their messages.
func (s *Store) serverName() string { return "atelier-" + s.ServerID() }

// Signal sends a message to the other servers of the database. Messages may be lost while a server is cut off, so each
// is only a hint to look at the database.
func (s *Store) Signal(ctx context.Context, kind, subject string) error {
	if s.member == nil {
		return nil
	}
	_, err := s.write.ExecContext(ctx, "SELECT pg_notify(?, ?)", signalChannel, kind+" "+subject+" "+s.serverName())
	return wrap("notify other servers", err)
}

// Listen calls handle for each message of other servers until ctx ends. It calls missed after each time in which
// messages may have been lost: once when it begins to listen, and every second while it cannot.
func (s *Store) Listen(ctx context.Context, handle func(Signal), missed func(listening bool)) {
	cut := false
	for ctx.Err() == nil {
		err := s.listen(ctx, func() {
			if cut {
				s.log.LogAttrs(ctx, slog.LevelInfo, "the messages of other servers arrive again")
			}
			cut = false
			missed(true)
		}, handle)
		if ctx.Err() != nil {
			return
		}
		if !cut {
			s.log.LogAttrs(ctx, slog.LevelWarn, "the messages of other servers do not arrive; caches are read again every second", slog.Any("error", err))
		}
		cut = true
		missed(false)
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
		}
	}
}

// listen returns when the connection has ended.
func (s *Store) listen(ctx context.Context, began func(), handle func(Signal)) error {
	opening, cancel := context.WithTimeout(probing(ctx), watchFor)
	defer cancel()
	conn, err := s.exclusive.connect(opening)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is written
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

// receive waits for a message. After a silence it asks the connection for an answer.
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

// signalOf reads a message: kind, subject, sender and perhaps data, separated by spaces.
func signalOf(payload string) Signal {
	fields := append(strings.SplitN(payload, " ", 4), "", "", "", "")
	return Signal{Kind: fields[0], Subject: fields[1], From: fields[2], Data: fields[3]}
}
