package router

import (
	"cmp"
	"slices"
	"time"
)

// Source is the origin of a run: an agent and a caller. Within a workspace, the queue treats all sources fairly.
type Source struct {
	Agent       string // ID of the agent; "" for inline code
	Caller      string // ID of the actor
	Interactive bool   // true if a person waits for the run

	started bool // true if the run was paused and waits to continue
}

// agent returns the key of the source's agent in tenant.agents. All inline code of one caller counts as one agent.
func (s Source) agent() string {
	if s.Agent == "" {
		return "inline code of " + s.Caller
	}
	return s.Agent
}

// tenant holds the runs of one workspace.
type tenant struct {
	held    int // number of active runs
	waiting int
	flows   map[Source]*flow  // sources with waiting tickets
	agents  map[string]*share // agents with active or waiting runs
	callers map[string]*share // actors with active or waiting runs

	positions map[*Ticket]int // last computed positions of the waiting tickets
	computed  time.Time       // time at which positions was computed
}

// flow holds the waiting tickets of one source, oldest first.
type flow struct {
	source  Source
	tickets []*Ticket
}

// share counts the runs of an agent or a caller in its workspace.
type share struct {
	active, waiting int
	served          int64 // value of Router.starts when its last run started; 0 if none has started
}

func newTenant() *tenant {
	return &tenant{flows: map[Source]*flow{}, agents: map[string]*share{}, callers: map[string]*share{}}
}

// shares calls do with two shares: that of the source's agent and that of its caller.
func (q *tenant) shares(of Source, do func(*share)) {
	update(q.agents, of.agent(), do)
	update(q.callers, of.Caller, do)
}

// update calls do with the share of a name. If the share does not exist, update creates it. If it is empty afterwards,
// update removes it.
func update(all map[string]*share, name string, do func(*share)) {
	one := all[name]
	if one == nil {
		one = &share{}
		all[name] = one
	}
	if do(one); one.active == 0 && one.waiting == 0 {
		delete(all, name)
	}
}

func (q *tenant) add(t *Ticket) {
	f := q.flows[t.source]
	if f == nil {
		f = &flow{source: t.source}
		q.flows[t.source] = f
	}
	f.tickets = append(f.tickets, t)
	q.waiting++
	q.shares(t.source, func(s *share) { s.waiting++ })
}

// remove removes a ticket from the queue if the ticket still waits.
func (q *tenant) remove(t *Ticket) {
	f := q.flows[t.source]
	if f == nil {
		return
	}
	at := slices.Index(f.tickets, t)
	if at < 0 {
		return
	}
	if f.tickets = slices.Delete(f.tickets, at, at+1); len(f.tickets) == 0 {
		delete(q.flows, t.source)
	}
	q.waiting--
	q.shares(t.source, func(s *share) { s.waiting-- })
	delete(q.positions, t)
}

// full reports whether the queue is full for a source. An agent may have at most three times as many waiting runs as
// there are free places in the queue. So an agent with many runs leaves places for other agents.
func (q *tenant) full(of Source, depth int) bool {
	free := depth - q.waiting
	own := q.agents[of.agent()]
	return free <= 0 || own != nil && own.waiting >= 3*free
}

// before reports whether the oldest ticket of a flow starts before that of another flow. It compares, in this order:
// the class, the active runs of agent and caller (fewest first), the last start of the caller, and the last start of
// the agent (earliest first).
func (q *tenant) before(a, b *flow) int {
	return cmp.Or(
		cmp.Compare(class(a), class(b)), cmp.Compare(q.active(a), q.active(b)),
		cmp.Compare(q.callers[a.source.Caller].served, q.callers[b.source.Caller].served),
		cmp.Compare(q.agents[a.source.agent()].served, q.agents[b.source.agent()].served),
		cmp.Compare(a.tickets[0].number, b.tickets[0].number),
	)
}

// class returns the priority class of a flow. All tickets of a lower class start first.
func class(f *flow) int {
	switch {
	case f.source.started:
		return 0
	case f.source.Interactive:
		return 1
	}
	return 2
}

func (q *tenant) active(f *flow) int {
	return q.agents[f.source.agent()].active + q.callers[f.source.Caller].active
}

// ordered returns the flows in the order of their next starts.
func (q *tenant) ordered() []*flow {
	all := make([]*flow, 0, len(q.flows))
	for _, f := range q.flows {
		all = append(all, f)
	}
	slices.SortFunc(all, q.before)
	return all
}

// first returns the ticket that starts next. The queue must not be empty.
func (q *tenant) first() *Ticket {
	var first *flow
	for _, f := range q.flows {
		if first == nil || q.before(f, first) < 0 {
			first = f
		}
	}
	return first.tickets[0]
}

// position returns the position of a waiting ticket, from 1. It returns 0 if the ticket does not wait. Each waiting
// ticket calls it once per reportEvery. So the positions of all tickets are computed together, at most twice in that
// time.
func (q *tenant) position(of *Ticket, now time.Time) int {
	if _, known := q.positions[of]; !known || now.Sub(q.computed) >= reportEvery/2 {
		q.positions, q.computed = q.places(), now
	}
	return q.positions[of]
}

// places returns the positions of all waiting tickets. Tickets of lower classes come first. Within a class the sources
// take turns.
func (q *tenant) places() map[*Ticket]int {
	all := make(map[*Ticket]int, q.waiting)
	for rest := q.ordered(); len(rest) > 0; {
		end := slices.IndexFunc(rest, func(f *flow) bool { return class(f) != class(rest[0]) })
		if end < 0 {
			end = len(rest)
		}
		for same, round := rest[:end:end], 0; len(same) > 0; round++ {
			same = slices.DeleteFunc(slices.Clone(same), func(f *flow) bool { return len(f.tickets) <= round })
			for _, f := range same {
				all[f.tickets[round]] = len(all) + 1
			}
		}
		rest = rest[end:]
	}
	return all
}
