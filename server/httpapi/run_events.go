package httpapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// EventList lists the events of a run that exist so far.
type EventList struct {
	Items []runtimes.Event `json:"items"`
}

func (a *API) listRunEvents() {
	type in struct {
		RunRef
		From int64  `query:"from" minimum:"0" doc:"Only events with a higher seq."`
		Last string `header:"Last-Event-ID" doc:"Sent by a reconnecting EventSource instead of from."`
	}
	schemas := a.huma.OpenAPI().Components.Schemas
	add(a, endpoint{
		id: "listRunEvents", method: http.MethodGet, path: Base + "/runs/{run}/events", tag: "runs", summary: "Get the events of a run",
		about:    "Returns the events so far as JSON. The list is complete: a run has a limited number of events. With Accept: text/event-stream, returns a stream that ends after the result.",
		refusals: []fault.Code{fault.NotFound}, instead: a.streamRunEvents,
		answers: map[string]*huma.Response{"200": {Description: "The events.", Content: map[string]*huma.MediaType{
			"application/json":  {Schema: schemas.Schema(reflect.TypeFor[EventList](), true, "")},
			"text/event-stream": {},
		}}},
	}, func(ctx context.Context, q *in) (*huma.StreamResponse, error) {
		events, err := a.Runs.Events(ctx, actor(ctx), q.Run, q.From)
		if err != nil {
			return nil, err
		}
		first, err := events.Next(ctx) // Until the first event, the request may still fail.
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			c.SetHeader("Content-Type", "application/json")
			c.SetStatus(http.StatusOK)
			if err := listEvents(ctx, c.BodyWriter(), first, err, events); err != nil {
				panic(http.ErrAbortHandler) // Abort the connection, so that a truncated answer does not look complete.
			}
		}}, nil
	})
}

// listEvents writes events one by one, so that the whole list is never in memory.
func listEvents(ctx context.Context, w io.Writer, e runtimes.Event, err error, events follower) error {
	for before := `{"items":[`; ; before = "," {
		if errors.Is(err, io.EOF) {
			if before == "," {
				before = ""
			}
			_, err = io.WriteString(w, before+"]}\n")
			return err
		}
		if err == nil {
			_, err = io.WriteString(w, before)
		}
		if err == nil {
			err = e.WriteJSON(w)
		}
		if err != nil {
			return err
		}
		e, err = events.Next(ctx)
	}
}

// streamRunEvents serves the events of a run to an EventSource. It returns an error only before the stream begins.
func (a *API) streamRunEvents(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || !wantsStream(r.Header.Get("Accept")) {
		return false
	}
	from, err := startOf(r)
	if err != nil {
		a.Problems.Write(w, r, err)
		return true
	}
	events, err := a.Runs.Follow(r.Context(), actor(r.Context()), chi.URLParam(r, "run"), from)
	if err != nil {
		a.Problems.Write(w, r, err)
		return true
	}
	if err := sendEvents(w, r, events, heartbeat); err != nil {
		a.Problems.Write(w, r, err)
	}
	return true
}

func wantsStream(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		if kind, _, err := mime.ParseMediaType(part); err == nil && kind == "text/event-stream" {
			return true
		}
	}
	return false
}

// startOf returns the sequence number after which a stream starts. The Last-Event-ID header takes precedence over the
// query, because an EventSource sends it when it reconnects.
func startOf(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("from")
	}
	if text == "" {
		return 0, nil
	}
	from, err := strconv.ParseInt(text, 10, 64)
	if err != nil || from < 0 {
		return 0, fault.New(fault.BadRequest, "from and Last-Event-ID must be the seq of an event.")
	}
	return from, nil
}
