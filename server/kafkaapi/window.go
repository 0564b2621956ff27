package kafkaapi

import (
	"encoding/base64"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// If waitRecords requests of all partitions are unanswered and their sessions keep all places busy, no requests are
	// polled.
	waitRecords = 4_000
	// pauseBytes limits the unanswered requests of a partition. If the limit is reached, the partition is paused. When the
	// partition has only half of the limit left, it is resumed.
	pauseBytes = 16 << 20
	// requestBytes is the approximate memory of a polled request in addition to its record, for its parsed fields.
	requestBytes = 1 << 10
	// allBytes limits the memory for unanswered requests of all partitions and their results. If the limit is reached, no
	// requests are polled. No tool starts then either, as long as there are results to publish.
	allBytes = 64 << 20
	// commitRecords and commitBytes limit the number of requests in one transaction, and the size of these requests with
	// their results.
	commitRecords = 5_000
	commitBytes   = 8 << 20
	// markedOffsets is the number of offsets after the committed offset that can be marked as answered in the metadata of
	// the committed offset.
	markedOffsets = 16 << 10
)

// work is a polled request whose results are not committed yet.
type work struct {
	delivery
	partition *partition
	ended     bool // whether all answers exist
	answers   []*kgo.Record
	bytes     int64 // size of the request and its answers, with requestBytes
	published bool  // whether the answers were published in a committed transaction
}

// partition holds the requests of one partition that this server has polled and that are not committed yet.
type partition struct {
	id      int32
	next    int64 // offset after the last polled request
	items   []*work
	open    int   // number of items whose results are not committed; all other items wait until an earlier item is committed
	bytes   int64 // total bytes of the items whose results are not committed
	running int
	marked  marks // offsets after the committed offset that an earlier owner of the partition has answered
	paused  bool
	closing bool // whether no further request starts, because the partition is assigned to another server
	closed  bool // whether another server may already own the partition
}

// marks is a set of answered offsets. It is a bitmap that starts at base, and is stored in the metadata of a committed
// offset.
type marks struct {
	base int64
	bits []byte
}

// marksPrefix is the prefix of offset metadata that contains marks. Metadata without this prefix is ignored.
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

// from calls do with each offset of the set that is at least bound.
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

// window contains the unfinished requests of all partitions. changed is signalled after every change.
type window struct {
	mu         sync.Mutex
	changed    *sync.Cond
	partitions map[int32]*partition
	sessions   map[string][]*work // unfinished requests of a session, in order; the first one may be running
	records    int
	bytes      int64
	stopped    bool // whether no further request may start
	expired    bool // whether functions that wait must return at once
}

func newWindow() *window {
	w := &window{partitions: map[int32]*partition{}, sessions: map[string][]*work{}}
	w.changed = sync.NewCond(&w.mu)
	return w
}

// assign adds a partition that starts at its committed offset. metadata contains the marks that were stored with this
// offset.
func (w *window) assign(id int32, committed int64, metadata string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.partitions[id] = &partition{id: id, next: max(committed, 0), marked: parseMarks(committed, metadata)}
}

// add adds a polled request. If the request's partition belongs to another server, or if the request was answered
// before, add returns false. first is true if no other request of the session is unfinished; the caller must then start
// the session.
func (w *window) add(d delivery) (taken, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.partitions[d.record.Partition]
	if p == nil || p.closing || d.record.Offset < p.next {
		return false, false
	}
	item := &work{delivery: d, partition: p, bytes: sizeOf(d.record) + requestBytes}
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

// forget releases the memory of a published request. Only the offset and err stay.
func (i *work) forget() {
	i.published, i.answers, i.bytes, i.delivery = true, nil, 0, delivery{record: &kgo.Record{Offset: i.record.Offset}, err: i.err}
}

// count adds a request to the numbers of unanswered requests and bytes if sign is 1. It subtracts the request if sign
// is -1.
func (w *window) count(item *work, sign int) {
	item.partition.open += sign
	w.records += sign
	item.partition.bytes += int64(sign) * item.bytes
	w.bytes += int64(sign) * item.bytes
}

// settled marks a request as published after its results were committed, and subtracts the request from the unanswered
// ones.
func (w *window) settled(item *work) {
	if !item.published && !item.partition.closed {
		w.count(item, -1)
	}
	item.forget()
}

// sizeOf returns the approximate size in bytes of a record in memory.
func sizeOf(r *kgo.Record) int64 { return int64(len(r.Value)+len(r.Key)) + 512 }

// awaitPoll waits until further requests are needed. They are not needed if waitRecords requests are unanswered, and if
// these have at least as many sessions as there are places. It also waits for memory, like awaitRoom. Partitions are
// paused only later, because the Kafka client forgets the fetched requests of a paused partition and fetches them again.
func (w *window) awaitPoll(places int, done func() bool) {
	w.mu.Lock()
	for w.records >= waitRecords && len(w.sessions) >= places && !done() {
		w.changed.Wait()
	}
	w.mu.Unlock()
	w.awaitRoom(done)
}

// awaitRoom waits while requests and results use allBytes or more. It returns early when done returns true. Code that
// makes done return true must signal changed.
func (w *window) awaitRoom(done func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.bytes >= allBytes && !done() {
		w.changed.Wait()
	}
}

// awaitPublication delays a request while requests and results use allBytes or more. It waits only if the next
// transaction will publish results and therefore release memory.
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

// begin returns the next request of a session, or nil if there is none.
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

// end records the answers of a request. If ok is false, this request and the later requests of its session stay
// unanswered.
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

// grow adds the bytes of a request's answers to the counted memory.
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

// release closes partitions that are assigned to another server. It first waits until the running tools of the
// partitions have ended and their results are published. It does not wait if the partitions are already lost or when
// expired returns true.
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
	cut     bool // whether results were left for the next transaction
}

// position is an offset to commit. Its metadata marks those later offsets that are already answered.
type position struct {
	offset   int64
	metadata string
}

// answers returns the records that the transaction publishes.
func (c commit) answers() (all []*kgo.Record) {
	for _, item := range c.items {
		for _, r := range item.answers { // Copy the record, because the client modifies records, and because the record is sent again if the transaction is aborted.
			all = append(all, &kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Headers: r.Headers})
		}
	}
	return all
}

// collect returns the content of the next transaction: results that are not committed yet, up to the limits of a
// transaction, and the offset of each of their partitions.
func (w *window) collect() commit {
	c := commit{offsets: map[int32]position{}}
	var bytes int64
	for _, p := range w.partitions {
		if !p.unpublished() {
			continue
		}
		if c.full(bytes) {
			c.cut = true
			break
		}
		at := position{offset: p.next}
		beyond := marks{base: p.next}
		first := p.items[0].record.Offset
		open := false
		for _, item := range p.items {
			offset := item.record.Offset
			full := !item.published && c.full(bytes)
			c.cut = c.cut || item.ended && full
			if !item.ended || offset-first >= markedOffsets || full {
				if !open {
					open, at.offset, beyond.base = true, offset, offset
				}
				continue
			}
			if !item.published {
				c.items = append(c.items, item)
				bytes += item.bytes - requestBytes
			}
			if open {
				beyond.add(offset)
			}
		}
		p.marked.from(p.next, beyond.add) // An earlier owner of the partition answered these requests, and this server has not polled them yet.
		at.metadata = beyond.String()
		c.offsets[p.id] = at
	}
	return c
}

// full reports whether a transaction that already has the given number of bytes can take no further result.
func (c commit) full(bytes int64) bool { return len(c.items) >= commitRecords || bytes >= commitBytes }

// published removes the requests of a committed transaction from the window.
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

// full reports whether a partition has reached the given part of one of its limits (2 means half). The limits are the
// bytes of its unanswered requests, and the number of offsets that can be marked after the oldest request.
func (p *partition) full(part int) bool {
	if p.bytes >= int64(pauseBytes/part) {
		return true
	}
	return len(p.items) > 0 && p.next-p.items[0].record.Offset >= int64(markedOffsets/part)
}

// settle removes those requests that the committed offset and its metadata show as answered. It is needed if a
// transaction was committed although its outcome was unknown.
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

// balance returns the partitions to pause and the partitions to resume.
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

// load returns the number of unanswered requests and the number of paused partitions.
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
