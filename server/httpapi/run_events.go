package httpapi

import (
	"context"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// EventList is the events of a run so far.
type EventList struct {
	Items []runtimes.Event `json:"items"`
}

func (a *API) listRunEvents() {
	type in struct {
		RunRef
		From   int64  `query:"from" minimum:"0" doc:"Only events with a higher seq."`
		Last   string `header:"Last-Event-ID" doc:"What a reconnecting EventSource sends instead of from."`
		Accept string `header:"Accept" hidden:"true"`
	}
	type out struct{ Body any }
	schemas := a.huma.OpenAPI().Components.Schemas
	add(a, endpoint{
		id: "listRunEvents", method: http.MethodGet, path: Base + "/runs/{run}/events", tag: "runs", summary: "Events of a run",
		about:    "JSON with the events so far, or with Accept: text/event-stream a stream that ends after the result.",
		refusals: []fault.Code{fault.NotFound},
		answers: map[string]*huma.Response{"200": {Description: "The events.", Content: map[string]*huma.MediaType{
			"application/json":  {Schema: schemas.Schema(reflect.TypeFor[EventList](), true, "")},
			"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}},
		}}},
	}, func(ctx context.Context, q *in) (*out, error) {
		from := q.From
		if q.Last != "" {
			seq, err := strconv.ParseInt(q.Last, 10, 64)
			if err != nil || seq < 0 {
				return nil, fault.New(fault.BadRequest, "Last-Event-ID must be the seq of an event.")
			}
			from = seq
		}
		if wantsStream(q.Accept) {
			stream, err := a.stream(ctx, actor(ctx), q.Run, from)
			return &out{Body: stream}, err
		}
		events, err := a.Runs.Events(ctx, actor(ctx), q.Run, from)
		if err != nil {
			return nil, err
		}
		return &out{Body: EventList{Items: orEmpty(events)}}, nil
	})
}

func wantsStream(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		if kind, _, err := mime.ParseMediaType(part); err == nil && kind == "text/event-stream" {
			return true
		}
	}
	return false
}

// stream opens a run's events for an EventSource. A run that is unknown is refused before the stream begins.
func (a *API) stream(ctx context.Context, who registry.Actor, run string, from int64) (func(huma.Context), error) {
	follower, err := a.Runs.Follow(ctx, who, run, from)
	if err != nil {
		return nil, err
	}
	return sendEvents(follower), nil
}
