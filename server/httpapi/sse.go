package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// heartbeat is a comment that keeps proxies from closing a quiet stream.
const heartbeat = 15 * time.Second

// follower reads a run's events one by one.
type follower interface {
	Next(ctx context.Context) (runtimes.Event, error)
}

// sendEvents writes server-sent events until the result, until the reader goes away or the gate gives up on it. It may
// come back with Last-Event-ID: nothing is lost. An error that it returns is to be answered: nothing was sent.
func sendEvents(w http.ResponseWriter, r *http.Request, events follower, beat time.Duration) error {
	s := eventStream{w: w, control: http.NewResponseController(w), beat: beat}
	for {
		event, err := s.next(r.Context(), events)
		if err == nil {
			err = s.send(event)
		}
		switch {
		case err == nil:
			continue
		case s.started:
			return nil
		case errors.Is(err, io.EOF) || r.Context().Err() != nil:
			// Everything was seen, or may be seen no more: 204 is what tells an EventSource not to come back.
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return err
	}
}

// eventStream writes one stream. It starts with the first event or heartbeat: until then it may turn out that there is none.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	beat    time.Duration
	started bool
}

// next waits for an event, and writes a heartbeat whenever none came for a while.
func (s *eventStream) next(ctx context.Context, events follower) (runtimes.Event, error) {
	for {
		waiting, cancel := context.WithTimeout(ctx, s.beat)
		event, err := events.Next(waiting)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return event, err
		}
		if err := s.write([]byte(": still here\n\n")); err != nil {
			return event, err
		}
	}
}

func (s *eventStream) send(event runtimes.Event) error {
	data, err := json.Marshal(event)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("id: " + strconv.FormatInt(event.Seq, 10) + "\nevent: " + string(event.Kind) + "\ndata: ")
	text.Write(data)
	text.WriteString("\n\n")
	return s.write(text.Bytes())
}

func (s *eventStream) write(text []byte) error {
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		s.w.Header().Set("X-Accel-Buffering", "no")
		s.w.WriteHeader(http.StatusOK)
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}
