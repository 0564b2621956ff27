// Package changes notifies the readers of an agent about saved drafts, new versions and other readers. A reader is a
// client that follows an agent's page. The package stores no events: a client that connects later loads the agent
// instead.
package changes

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// These are the limits of a hub.
const (
	MaxReaders = 2000 // maximum number of readers per server
	PerActor   = 50   // maximum number of readers per person or token
	backlog    = 64   // maximum number of undelivered events per reader
)

// These are the reasons why a hub ends a reader.
var (
	ErrSlow    = errors.New("the reader is too slow")
	ErrDeleted = errors.New("the agent was deleted")
	ErrClosed  = errors.New("the server is stopping")
)

// Event is a change of an agent: Draft, Version or Presence.
type Event struct {
	Name string
	Data any
}

// Draft is the data of a saved draft.
type Draft struct {
	Revision int64           `json:"revision"`
	SavedAt  time.Time       `json:"savedAt"`
	SavedBy  registry.Editor `json:"savedBy"`
}

// Version is the data of a publication.
type Version struct {
	Version string `json:"version"`
}

// Presence lists the readers of an agent after one was added or removed.
type Presence struct {
	People []Person `json:"people"`
}

// Person is a reader of an agent. A person with several open pages is listed once.
type Person struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
}

// DraftSaved returns the event of a saved draft.
func DraftSaved(d registry.Draft) Event {
	return Event{"draft", Draft{d.Revision, d.SavedAt, d.SavedBy}}
}

// Hub distributes events to readers. It is safe for concurrent use. A nil hub has no readers.
type Hub struct {
	now     func() time.Time
	mu      sync.Mutex
	agents  map[string][]*Reader // readers by agent ID
	actors  map[string]int       // number of readers by actor
	readers int
	closed  bool
}

// New returns a hub.
func New(now func() time.Time) *Hub {
	return &Hub{now: now, agents: map[string][]*Reader{}, actors: map[string]int{}}
}

// Reader receives the events of one agent until it is closed.
type Reader struct {
	hub    *Hub
	agent  string
	actor  registry.Actor
	since  time.Time
	events chan Event
	ended  chan struct{}
	reason error // reason why the reader ended; it is set before the channel ended is closed
}

// Read adds a reader of an agent. Errors: TooManyRequests if a limit is exceeded; ShuttingDown.
func (h *Hub) Read(agentID string, actor registry.Actor) (*Reader, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, fault.New(fault.ShuttingDown, "The server is stopping; try again in a moment.")
	case h.readers >= MaxReaders:
		return nil, fault.New(fault.TooManyRequests, "Too many clients follow agents of this server; try again in a moment.")
	case h.actors[actorKey(actor)] >= PerActor:
		return nil, fault.New(fault.TooManyRequests, "You already follow %d agents; close the pages of some agents first.", PerActor)
	}
	before := h.people(agentID)
	r := &Reader{hub: h, agent: agentID, actor: actor, since: h.now(), events: make(chan Event, backlog), ended: make(chan struct{})}
	h.agents[agentID] = append(h.agents[agentID], r)
	h.actors[actorKey(actor)]++
	h.readers++
	people := h.people(agentID)
	if slices.Equal(before, people) { // The person already follows the agent on another page, so the list of people is unchanged for other readers.
		r.send(Event{"presence", Presence{people}})
	} else {
		h.publish(agentID, Event{"presence", Presence{people}})
	}
	return r, nil
}

func actorKey(a registry.Actor) string { return a.Workspace + "/" + a.ID }

// Next waits for the next event. If the hub has ended the reader, Next returns the reason.
func (r *Reader) Next(ctx context.Context) (Event, error) {
	select {
	case e := <-r.events:
		return e, nil
	case <-r.ended:
		return Event{}, r.reason
	case <-ctx.Done():
		return Event{}, context.Cause(ctx)
	}
}

// Close removes the reader.
func (r *Reader) Close() {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	r.hub.end(r, ErrClosed)
}

// Saved notifies the readers of an agent that its draft was saved.
func (h *Hub) Saved(agentID string, d registry.Draft) { h.Tell(agentID, DraftSaved(d)) }

// Published notifies the readers of an agent that a version was published.
func (h *Hub) Published(agentID, version string) { h.Tell(agentID, Event{"version", Version{version}}) }

// Tell sends an event to the readers of an agent.
func (h *Hub) Tell(agentID string, e Event) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publish(agentID, e)
}

// Deleted ends the readers of a deleted agent.
func (h *Hub) Deleted(agentID string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range slices.Clone(h.agents[agentID]) {
		h.end(r, ErrDeleted)
	}
}

// Close ends all readers. Afterwards the hub rejects new readers.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, readers := range h.agents {
		for _, r := range slices.Clone(readers) {
			h.end(r, ErrClosed)
		}
	}
}

// publish sends an event to the readers of an agent. The caller must hold h.mu.
func (h *Hub) publish(agentID string, e Event) {
	for _, r := range slices.Clone(h.agents[agentID]) {
		r.send(e)
	}
}

// send adds an event to the reader's backlog. The caller must hold the lock of the hub. If the backlog is full, send
// ends the reader; the client then reconnects and loads the agent again.
func (r *Reader) send(e Event) {
	select {
	case r.events <- e:
	default:
		r.hub.end(r, ErrSlow)
	}
}

// end ends a reader and records the reason. The caller must hold h.mu.
func (h *Hub) end(r *Reader, reason error) {
	at := slices.Index(h.agents[r.agent], r)
	if at < 0 {
		return
	}
	before := h.people(r.agent)
	h.agents[r.agent] = slices.Delete(h.agents[r.agent], at, at+1)
	if len(h.agents[r.agent]) == 0 {
		delete(h.agents, r.agent)
	}
	if h.actors[actorKey(r.actor)]--; h.actors[actorKey(r.actor)] == 0 {
		delete(h.actors, actorKey(r.actor))
	}
	h.readers--
	r.reason = reason
	close(r.ended)
	if people := h.people(r.agent); !slices.Equal(before, people) {
		h.publish(r.agent, Event{"presence", Presence{people}})
	}
}

// people lists the readers of an agent in order of arrival. A person with several readers is listed once. The caller
// must hold h.mu.
func (h *Hub) people(agentID string) []Person {
	all := []Person{}
	for _, r := range h.agents[agentID] {
		if !slices.ContainsFunc(all, func(p Person) bool { return p.ID == r.actor.ID }) {
			all = append(all, Person{r.actor.ID, r.actor.Name, r.since})
		}
	}
	slices.SortStableFunc(all, func(a, b Person) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return all
}
