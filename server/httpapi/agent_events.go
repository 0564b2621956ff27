package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/changes"
)

// slowest is the maximum time that a reader of an agent's events may take for one event.
const slowest = 20 * time.Second

func (a *API) followAgent() {
	a.stream(endpoint{
		id: "followAgent", method: http.MethodGet, path: Base + "/code-agents/{agent}/events", tag: "agents", summary: "Follow an agent",
		about: "Sends server-sent events about changes by all clients. draft: {revision, savedAt, savedBy}, once at the start and at every save. " +
			"version: {version}, at every publication. presence: {people: [{id, name, since}]}, the people who follow the agent, each listed once. " +
			"A comment every 15 seconds keeps the stream open. The stream ends when the agent is deleted, when the reader loses access to it, or when the reader is too slow.",
		answers: map[string]*huma.Response{"200": {Description: "The events.",
			Content: map[string]*huma.MediaType{"text/event-stream": {Example: "event: draft\ndata: {\"revision\":7,\"savedAt\":\"2026-11-26T09:00:00Z\",\"savedBy\":{\"id\":\"01980a3c-7c1e-7d35-9f0a-3a4f2b1c0d9e\",\"name\":\"Grace\"}}\n\n"}}}},
		refusals: []fault.Code{fault.NotFound, fault.TooManyRequests, fault.ShuttingDown},
	}, []*huma.Param{{Name: "agent", In: "path", Required: true, Description: "Name or ID.", Schema: &huma.Schema{Type: huma.TypeString}}}, nil, a.sendAgentEvents)
}

func (a *API) sendAgentEvents(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	agent, err := a.Agents.Get(ctx, actor(ctx), chi.URLParam(r, "agent"))
	if err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	reader, err := a.Changes.Read(agent.ID, actor(ctx))
	if err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	defer reader.Close()
	// The draft is read again after the reader is registered, so that no save is missed: an earlier save is in this draft,
	// and a later save is sent as an event.
	if agent, err = a.Agents.Get(ctx, actor(ctx), agent.ID); err != nil {
		a.Problems.Write(w, r, err)
		return
	}
	s := eventStream{w: w, control: http.NewResponseController(w), beat: heartbeat}
	for event := changes.DraftSaved(agent.Draft); err == nil; event, err = s.change(ctx, reader) {
		if err := s.sendChange(event); err != nil {
			return // The reader disconnected or is too slow.
		}
	}
}

// change waits for an event. While there is none, it writes a heartbeat at each interval.
func (s *eventStream) change(ctx context.Context, reader *changes.Reader) (changes.Event, error) {
	for {
		waiting, cancel := context.WithTimeout(ctx, s.beat)
		event, err := reader.Next(waiting)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return event, err
		}
		if err := s.inTime([]byte(": still here\n\n")); err != nil {
			return event, err
		}
	}
}

func (s *eventStream) sendChange(event changes.Event) error {
	return s.sendNamed(event.Name, event.Data)
}

// sendNamed sends an event with a name, and a value as JSON.
func (s *eventStream) sendNamed(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.inTime([]byte("event: " + name + "\ndata: " + string(data) + "\n\n"))
}

// inTime writes the text. If the reader takes too long, it fails.
func (s *eventStream) inTime(text []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(slowest)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return s.write(text)
}
