package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// heartbeat is the interval at which comments are sent in a stream without events. The comments prevent proxies from
// closing the connection.
const heartbeat = 15 * time.Second

// follower reads the events of a run one by one.
type follower interface {
	Next(ctx context.Context) (runtimes.Event, error)
}

// sendEvents writes server-sent events until the result of the run was sent, the reader disconnects or the gate ends
// the stream. The reader can reconnect with Last-Event-ID without losing events. If sendEvents returns an error, it has
// sent nothing, and the caller must answer with the error.
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
			// The reader has all events or may not read more. The status 204 tells an EventSource not to reconnect.
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return err
	}
}

// eventStream writes one event stream. It sends the HTTP header with the first event or heartbeat, because the request
// may still fail before.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	beat    time.Duration
	started bool
}

// next waits for an event. While there is none, it writes a heartbeat at each interval.
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
	s.start()
	if _, err := io.WriteString(s.w, "id: "+strconv.FormatInt(event.Seq, 10)+"\nevent: "+string(event.Kind)+"\ndata: "); err != nil {
		return err
	}
	if err := event.WriteJSON(s.w); err != nil {
		return err
	}
	return s.write([]byte("\n\n"))
}

func (s *eventStream) start() {
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		s.w.Header().Set("X-Accel-Buffering", "no")
		s.w.WriteHeader(http.StatusOK)
	}
}

func (s *eventStream) write(text []byte) error {
	s.start()
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}
