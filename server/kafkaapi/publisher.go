package kafkaapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// publishEvery is the minimum interval between transactions. All results of an interval are published in the same
	// transaction. The interval grows by a millisecond for every waitingPerMs unanswered requests, up to publishSeldom,
	// because each transaction costs the broker as much as many records, and most requests of a long queue wait longer.
	publishEvery  = 25 * time.Millisecond
	publishSeldom = 200 * time.Millisecond
	waitingPerMs  = 4
	// lingerFor is the time for which the producer of results collects records. It is longer than it takes to add the
	// records of a transaction, which are then flushed.
	lingerFor = 50 * time.Millisecond
)

// publishing is the goroutine that publishes results and commits the offsets of their requests.
type publishing struct {
	*consumer

	producer *kgo.Client
	ctx      context.Context // the end of this context ends the waits between attempts
	cancel   context.CancelFunc
	done     chan struct{}
	draining bool // whether the goroutine ends when no results are left; guarded by the lock of the window
	unsure   bool // whether State may still report a failure although all results are published
}

func (c *consumer) startPublishing(abort context.Context) *publishing {
	p := &publishing{consumer: c, done: make(chan struct{}), unsure: true}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(abort))
	go p.loop()
	return p
}

// finish publishes the available results and waits until they are published. If atOnce is set, it waits only for the
// transaction in progress.
func (p *publishing) finish(atOnce bool) {
	p.mu.Lock()
	p.draining = true
	if atOnce {
		p.expired = true
	}
	p.changed.Broadcast()
	p.mu.Unlock()
	if atOnce {
		p.cancel()
	}
	<-p.done
	p.cancel()
}

func (p *publishing) loop() {
	defer close(p.done)
	defer func() {
		if p.producer != nil {
			p.producer.Close()
		}
	}()
	for {
		began := time.Now()
		last, more, err := p.publishNext()
		switch {
		case err != nil:
			p.unsure = true
			p.note(func(s *State) { s.failing = true })
			p.disconnected(p.ctx, fmt.Errorf("publish results: %w", err))
			if p.ended() {
				return
			}
			pause(p.ctx, retryEvery/4)
		case !more:
			return
		default:
			pause(p.ctx, p.interval(last)-time.Since(began))
		}
	}
}

// interval returns the time from the start of the last transaction to the start of the next one. It is publishEvery if
// more results are left than the last transaction could take, or if tools wait for memory.
func (p *publishing) interval(last commit) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last.cut || p.bytes >= allBytes {
		return publishEvery
	}
	return min(publishEvery+time.Duration(p.records/waitingPerMs)*time.Millisecond, publishSeldom)
}

// publishNext publishes the next results in one transaction, and returns them. After the last results it returns false.
func (p *publishing) publishNext() (last commit, more bool, err error) {
	if err := p.open(); err != nil {
		return commit{}, true, err
	}
	if p.unsure {
		p.recovered()
	}
	next, ok := p.wait()
	if !ok {
		return commit{}, false, nil
	}
	if err := p.transact(next); err != nil {
		return commit{}, true, err
	}
	p.published(next.commit)
	p.rebalanceLoad()
	p.count(next.commit)
	return next.commit, true, nil
}

// recovered resets the failure state if no results are left to publish. This can happen if an earlier transaction was
// committed although its success was unknown.
func (p *publishing) recovered() {
	p.mu.Lock()
	p.unsure = len(p.collect().items) > 0
	p.mu.Unlock()
	if !p.unsure {
		p.note(func(s *State) { s.failing = false })
	}
}

// ended reports whether publishing must stop, so that a failed transaction is not repeated.
func (p *publishing) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.expired
}

// round is the content of a transaction, together with the group membership for which it commits offsets.
type round struct {
	commit

	member     string
	generation int32
}

// wait returns the next results. After the last results it returns false.
func (p *publishing) wait() (round, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if c := p.collect(); len(c.items) > 0 {
			r := round{commit: c}
			r.member, r.generation = p.client.GroupMetadata()
			return r, true
		}
		if p.draining {
			return round{}, false
		}
		p.changed.Wait()
	}
}

// count adds the number of published results to the state.
func (p *publishing) count(c commit) {
	var invalid int64
	for _, item := range c.items {
		if item.err != nil {
			invalid++
		}
	}
	p.note(func(s *State) {
		s.Connected, s.Reason, s.failing = true, "", false
		s.Results += int64(len(c.items)) - invalid
		s.Invalid += invalid
	})
}

// transact publishes results and commits the offsets of their requests in one transaction. After an error, the
// transaction was aborted or its outcome is unknown. If the outcome is unknown, the next attempt reads it from the
// committed offsets.
func (p *publishing) transact(r round) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), deliverWithin+groupWithin)
	defer cancel()
	if err := p.producer.BeginTransaction(); err != nil {
		p.close()
		return err
	}
	err := p.produce(ctx, r.answers())
	if err == nil {
		err = p.commitOffsets(ctx, r)
	}
	if err == nil {
		if err = p.producer.EndTransaction(ctx, kgo.TryCommit); err != nil {
			p.close() // Close the producer, because it is unknown whether the transaction was committed.
		}
		return err
	}
	if aborted := errors.Join(p.producer.AbortBufferedRecords(ctx), p.producer.EndTransaction(ctx, kgo.TryAbort)); aborted != nil {
		p.close()
	}
	return err
}

// produce sends records, in few requests because the producer collects them. If it returns an error, records may still
// be on their way: the transaction must be aborted.
func (p *publishing) produce(ctx context.Context, records []*kgo.Record) error {
	failed := kgo.AbortingFirstErrPromise(p.producer)
	for _, r := range records {
		p.producer.Produce(ctx, r, failed.Promise())
	}
	if err := p.producer.Flush(ctx); err != nil {
		return err // A broker that does not answer must not block this server longer than ctx.
	}
	return failed.Err()
}

// open connects a producer if there is none. Initializing the producer ends the last transaction of this server.
// Afterwards the committed offsets show which results were published.
func (p *publishing) open() error {
	if p.producer != nil {
		return nil
	}
	base, err := p.connection()
	if err != nil {
		return err
	}
	producer, err := kgo.NewClient(append(base, kgo.TransactionalID(p.Kafka.Group+"-"+p.Instance), kgo.AllowAutoTopicCreation(), kgo.ProducerLinger(lingerFor))...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, deliverWithin)
	defer cancel()
	_, _, err = producer.ProducerID(ctx)
	var positions map[int32]position
	if err == nil {
		positions, err = p.committed(ctx)
	}
	if err != nil {
		producer.Close()
		return err
	}
	for id, at := range positions {
		p.settle(id, at.offset, at.metadata)
	}
	p.rebalanceLoad()
	p.producer = producer
	return nil
}

func (p *publishing) close() {
	p.producer.Close()
	p.producer = nil
}

// commitOffsets adds offsets to the transaction. Kafka rejects them if this server no longer owns the partitions.
func (p *publishing) commitOffsets(ctx context.Context, r round) error {
	id, epoch, err := p.producer.ProducerID(ctx)
	if err != nil {
		return err
	}
	transaction := p.Kafka.Group + "-" + p.Instance
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = transaction, id, epoch, p.Kafka.Group
	added, err := add.RequestWith(ctx, p.producer)
	if err == nil {
		err = kerr.ErrorForCode(added.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("add offsets to the transaction: %w", err)
	}
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID, request.Group, request.ProducerID, request.ProducerEpoch = transaction, p.Kafka.Group, id, epoch
	request.MemberID, request.Generation, request.InstanceID = r.member, r.generation, &p.Instance
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic = p.Kafka.Requests
	for id, at := range r.offsets {
		one := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		one.Partition, one.Offset, one.Metadata = id, at.offset, &at.metadata
		topic.Partitions = append(topic.Partitions, one)
	}
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, p.producer)
	if err != nil {
		return fmt.Errorf("commit offsets: %w", err)
	}
	for _, topic := range response.Topics {
		for _, one := range topic.Partitions {
			if err := kerr.ErrorForCode(one.ErrorCode); err != nil {
				return fmt.Errorf("commit offset of partition %d: %w", one.Partition, err)
			}
		}
	}
	return nil
}
