package kafkaapi

import (
	"encoding/base64"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// pauseRecords and pauseBytes bound the unanswered requests of a partition. A fuller partition is paused, and resumed
	// when half of them are answered.
	pauseRecords = 500
	pauseBytes   = 16 << 20
	// allBytes bounds the unanswered requests of all partitions, with their results. Beyond it nothing is polled, and no
	// tool starts while there are results to publish.
	allBytes = 64 << 20
	// commitRecords and commitBytes bound the requests of one transaction, and their results.
	commitRecords = 5_000
	commitBytes   = 8 << 20
	// markedOffsets is how far beyond the committed offset answered requests can be marked.
	markedOffsets = 16 << 10
)

// work is a request from its poll until its results are committed.
type work struct {
	delivery
	partition *partition
	ended     bool // answers are complete
	answers   []*kgo.Record
	bytes     int64 // of the request and its answers
	published bool  // in a committed transaction
}

// partition holds the requests of one partition that this server has polled and that are not committed yet.
type partition struct {
	id      int32
	next    int64 // offset after the last polled request
	items   []*work
	open    int   // requests whose results are not committed; the others wait for an earlier one
	bytes   int64 // of these
	running int
	marked  marks // answered offsets beyond the committed one, by an earlier owner
	paused  bool
	closing bool // nothing starts any more, because another server gets the partition
	closed  bool // another server may have the partition
}

// marks is a set of offsets relative to a base, as the metadata of a committed offset hold it.
type marks struct {
	base int64
	bits []byte
}

// marksPrefix begins metadata that this version writes. Other metadata are ignored.
const marksPrefix = "answered:"

func (m *marks) add(offset int64) {
	at := offset - m.base
	for int64(len(m.bits)) <= at/8 {
		m.bits = append(m.bits, 0)
	}
	m.bits[at/8] |= 1 << (at % 8)
}

func (m *marks) has(offset int64) bool {
	at := offset - m.base
	return at >= 0 && at/8 < int64(len(m.bits)) && m.bits[at/8]&(1<<(at%8)) != 0
}

// from calls do with each offset of the set that is not below a bound.
func (m *marks) from(bound int64, do func(int64)) {
	for offset := max(bound, m.base); offset < m.base+8*int64(len(m.bits)); offset++ {
		if m.has(offset) {
			do(offset)
		}
	}
}

func (m *marks) String() string {
	if len(m.bits) == 0 {
		return ""
	}
	return marksPrefix + base64.RawStdEncoding.EncodeToString(m.bits)
}

func parseMarks(base int64, text string) marks {
	encoded, ok := strings.CutPrefix(text, marksPrefix)
	if !ok {
		return marks{}
	}
	bits, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil {
		return marks{}
	}
	return marks{base: base, bits: bits}
}

// window holds the requests that are in progress. Its condition signals every change.
type window struct {
	mu         sync.Mutex
	changed    *sync.Cond
	partitions map[int32]*partition
	sessions   map[string][]*work // unfinished requests of a session, in order; the first one may be running
	records    int
	bytes      int64
	stopped    bool // nothing starts any more
	expired    bool // nothing is waited for any more
}

func newWindow() *window {
	w := &window{partitions: map[int32]*partition{}, sessions: map[string][]*work{}}
	w.changed = sync.NewCond(&w.mu)
	return w
}

// assign begins a partition at its committed offset.
func (w *window) assign(id int32, committed int64, metadata string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.partitions[id] = &partition{id: id, next: max(committed, 0), marked: parseMarks(committed, metadata)}
}

// add takes a polled request. It returns false if the request is none of this server, or was answered. first is true if
// no other request of the session is in progress, so that the caller starts one.
func (w *window) add(d delivery) (taken, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.partitions[d.record.Partition]
	if p == nil || p.closing || d.record.Offset < p.next {
		return false, false
	}
	item := &work{delivery: d, partition: p, bytes: sizeOf(d.record)}
	p.next = d.record.Offset + 1
	p.items = append(p.items, item)
	if p.marked.has(d.record.Offset) {
		item.ended = true
		item.forget()
		return false, false
	}
	w.count(item, 1)
	queue := w.sessions[d.SessionID]
	w.sessions[d.SessionID] = append(queue, item)
	return true, len(queue) == 0
}

// forget keeps only the offset of a published request.
func (i *work) forget() {
	i.published, i.answers, i.bytes, i.delivery = true, nil, 0, delivery{record: &kgo.Record{Offset: i.record.Offset}, err: i.err}
}

// count adds a request to the open ones, or removes it.
func (w *window) count(item *work, sign int) {
	item.partition.open += sign
	w.records += sign
	item.partition.bytes += int64(sign) * item.bytes
	w.bytes += int64(sign) * item.bytes
}

// settled removes a request whose results are committed from the open ones.
func (w *window) settled(item *work) {
	if !item.published && !item.partition.closed {
		w.count(item, -1)
	}
	item.forget()
}

// sizeOf returns the approximate bytes of a record in memory.
func sizeOf(r *kgo.Record) int64 { return int64(len(r.Value)+len(r.Key)) + 512 }

// awaitRoom waits while there are too many bytes, unless done reports true. The goroutine that makes it true signals the
// change.
func (w *window) awaitRoom(done func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.bytes >= allBytes && !done() {
		w.changed.Wait()
	}
}

// awaitPublication keeps a request from running while there are too many bytes, and some of them are results that the next
// transaction publishes.
func (w *window) awaitPublication(item *work) {
	w.awaitRoom(func() bool {
		if w.stopped || item.partition.closing {
			return true
		}
		for _, p := range w.partitions {
			if p.unpublished() {
				return false
			}
		}
		return true
	})
}

// begin returns the next request of a session, or nil after the last one.
func (w *window) begin(session string) *work {
	w.mu.Lock()
	defer w.mu.Unlock()
	for queue := w.sessions[session]; len(queue) > 0; queue = queue[1:] {
		item := queue[0]
		if w.stopped || item.partition.closing {
			continue
		}
		w.sessions[session] = queue
		item.partition.running++
		return item
	}
	delete(w.sessions, session)
	w.changed.Broadcast()
	return nil
}

// end completes a request. Without ok it stays unanswered, and so does the rest of its session.
func (w *window) end(item *work, answers []*kgo.Record, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	item.partition.running--
	if ok {
		item.answers, item.ended = answers, true
		w.grow(item)
	} else {
		w.stopped = true
	}
	w.sessions[item.SessionID] = w.sessions[item.SessionID][1:]
	w.changed.Broadcast()
}

// grow counts the answers of a request.
func (w *window) grow(item *work) {
	var bytes int64
	for _, r := range item.answers {
		bytes += sizeOf(r)
	}
	item.bytes += bytes
	if !item.partition.closed {
		item.partition.bytes += bytes
		w.bytes += bytes
	}
}

// unpublished reports whether a partition has results to publish.
func (p *partition) unpublished() bool {
	for _, item := range p.items {
		if item.ended && !item.published && item.record.Offset-p.items[0].record.Offset < markedOffsets {
			return true
		}
	}
	return false
}

// release closes partitions that go to another server. It first waits for their running tools and results, unless the
// partitions are lost already.
func (w *window) release(ids []int32, lost bool, expired func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*partition
	for _, id := range ids {
		if p := w.partitions[id]; p != nil {
			p.closing = true
			all = append(all, p)
		}
	}
	w.changed.Broadcast()
	for _, p := range all {
		for !lost && !w.expired && !expired() && (p.running > 0 || p.unpublished()) {
			w.changed.Wait()
		}
	}
	for _, p := range all {
		p.closed = true
		w.records -= p.open
		w.bytes -= p.bytes
		p.items, p.open, p.bytes = nil, 0, 0
		if w.partitions[p.id] == p {
			delete(w.partitions, p.id)
		}
	}
	w.changed.Broadcast()
}

// commit is the content of one transaction.
type commit struct {
	items   []*work
	offsets map[int32]position
}

// position is an offset to commit, and the answered offsets beyond it.
type position struct {
	offset   int64
	metadata string
}

// answers returns the records to publish.
func (c commit) answers() (all []*kgo.Record) {
	for _, item := range c.items {
		for _, r := range item.answers { // a record of an aborted transaction was changed by the client
			all = append(all, &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Headers: r.Headers})
		}
	}
	return all
}

// collect returns results that no transaction has committed, as many as one transaction may have.
func (w *window) collect() commit {
	c := commit{offsets: map[int32]position{}}
	var bytes int64
	for _, p := range w.partitions {
		if c.full(bytes) {
			break
		}
		if !p.unpublished() {
			continue
		}
		at := position{offset: p.next}
		beyond := marks{base: p.next}
		first := p.items[0].record.Offset
		open := false
		for _, item := range p.items {
			offset := item.record.Offset
			if !item.ended || offset-first >= markedOffsets || !item.published && c.full(bytes) {
				if !open {
					open, at.offset, beyond.base = true, offset, offset
				}
				continue
			}
			if !item.published {
				c.items = append(c.items, item)
				bytes += item.bytes
			}
			if open {
				beyond.add(offset)
			}
		}
		p.marked.from(p.next, beyond.add) // an earlier owner answered them, and they are not polled yet
		at.metadata = beyond.String()
		c.offsets[p.id] = at
	}
	return c
}

// full reports whether a transaction with so many bytes takes no further result.
func (c commit) full(bytes int64) bool { return len(c.items) >= commitRecords || bytes >= commitBytes }

// published removes the requests of a committed transaction.
func (w *window) published(c commit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, item := range c.items {
		w.settled(item)
	}
	for id := range c.offsets {
		if p := w.partitions[id]; p != nil {
			p.shorten()
		}
	}
	w.changed.Broadcast()
}

// shorten removes the published requests at the beginning of a partition.
func (p *partition) shorten() {
	for len(p.items) > 0 && p.items[0].published {
		p.items[0] = nil
		p.items = p.items[1:]
	}
}

// full reports whether a partition has more than a part of the unanswered requests that it may have, or the oldest one
// is too far behind to mark others.
func (p *partition) full(part int) bool {
	if p.open >= pauseRecords/part || p.bytes >= int64(pauseBytes/part) {
		return true
	}
	return len(p.items) > 0 && p.next-p.items[0].record.Offset >= int64(markedOffsets/part)
}

// settle forgets the requests whose results an earlier transaction committed although its end was not seen.
func (w *window) settle(id int32, committed int64, metadata string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.partitions[id]
	if p == nil {
		return
	}
	answered := parseMarks(committed, metadata)
	for _, item := range p.items {
		if item.ended && (item.record.Offset < committed || answered.has(item.record.Offset)) {
			w.settled(item)
		}
	}
	p.shorten()
	w.changed.Broadcast()
}

// balance returns the partitions to pause and to resume.
func (w *window) balance() (pause, resume []int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, p := range w.partitions {
		switch {
		case !p.paused && p.full(1):
			p.paused = true
			pause = append(pause, id)
		case p.paused && !p.full(2):
			p.paused = false
			resume = append(resume, id)
		}
	}
	return pause, resume
}

// load returns how many requests are unanswered, and how many partitions are paused.
func (w *window) load() (requests, paused int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.partitions {
		if p.paused {
			paused++
		}
	}
	return w.records, paused
}
