package kafkaapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// sessionTimeout is the time after which the partitions of a killed server are assigned to other servers.
	sessionTimeout = 15 * time.Second
	// releaseWithin is the maximum time that a rebalance waits for the running tools of a partition. If a tool takes
	// longer, the next owner of the partition waits for the tool's run.
	releaseWithin = 45 * time.Second
	// groupWithin is the time limit of a request to the coordinator of the consumer group.
	groupWithin = 10 * time.Second
)

// consumer is one membership of this server in the consumer group.
type consumer struct {
	*API
	*window

	client  *kgo.Client
	fail    context.CancelCauseFunc // ends the membership
	pausing sync.Mutex              // locked from the decision to pause or resume partitions until the Kafka client has done so
}

// session joins the consumer group and consumes requests. It returns when ctx ends, or after an error that requires a
// new membership in the group.
func (a *API) session(ctx, abort context.Context) error {
	if err := a.ping(ctx); err != nil {
		return err
	}
	base, err := a.connection()
	if err != nil {
		return err
	}
	member, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	c := &consumer{API: a, window: newWindow(), fail: fail}
	c.client, err = kgo.NewClient(append(base,
		kgo.ConsumerGroup(a.Kafka.Group), kgo.ConsumeTopics(a.Kafka.Requests), kgo.DisableAutoCommit(), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.AllowAutoTopicCreation(), kgo.FetchMaxPartitionBytes(fetchBytes),
		kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.SessionTimeout(sessionTimeout),
		kgo.InstanceID(a.Instance), // With an instance ID, a restarted server gets its partitions back at once.
		kgo.OnPartitionsAssigned(func(ctx context.Context, _ *kgo.Client, assigned map[string][]int32) {
			c.assigned(ctx, assigned[a.Kafka.Requests])
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { c.gone(gone[a.Kafka.Requests], false) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { c.gone(gone[a.Kafka.Requests], true) }),
	)...)
	if err != nil {
		return err
	}
	defer c.client.Close()
	a.noting.Lock()
	a.window = c.window
	a.noting.Unlock()
	a.connected()
	return c.consume(ctx, member, abort)
}

// consume polls requests, runs tools and publishes results until ctx ends or the membership fails. After a failure it
// does not wait for running tools, because Kafka delivers their requests again, and the repeated requests wait for the
// same runs.
func (c *consumer) consume(ctx, member, abort context.Context) error {
	go c.watch(member)
	publishing := c.startPublishing(abort)
	c.poll(member, abort)
	defer c.stopStarting(abort)()
	if ctx.Err() == nil {
		err := context.Cause(member)
		c.disconnected(ctx, err) // Report the failure now, because the transaction in progress may take a while.
		publishing.finish(true)
		return err
	}
	c.tools.Wait()
	publishing.finish(false)
	c.leave()
	return nil
}

// stopStarting prevents further tools from starting, while running tools may finish. When abort ends, waiting for these
// tools ends too. The returned function removes the connection to abort.
func (c *consumer) stopStarting(abort context.Context) (end func() bool) {
	c.mu.Lock()
	c.stopped = true
	c.changed.Broadcast()
	c.mu.Unlock()
	return context.AfterFunc(abort, func() {
		c.mu.Lock()
		c.expired = true
		c.changed.Broadcast()
		c.mu.Unlock()
	})
}

// poll receives requests and starts them until the membership ends.
func (c *consumer) poll(member, abort context.Context) {
	stop := context.AfterFunc(member, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	defer stop()
	var next time.Time
	for member.Err() == nil {
		pause(member, time.Until(next))
		c.awaitPoll(cap(c.places), func() bool { return member.Err() != nil })
		fetches := c.client.PollRecords(member, pollRecords)
		next = time.Now().Add(pollEvery)
		if member.Err() != nil {
			return
		}
		if fetches.IsClientClosed() {
			c.fail(errors.New("the client is closed"))
			return
		}
		for _, failed := range fetches.Errors() {
			if !kerr.IsRetriable(failed.Err) {
				c.fail(fmt.Errorf("read %s: %w", failed.Topic, failed.Err))
				return
			}
		}
		fetches.EachRecord(func(r *kgo.Record) { c.start(member, abort, r) })
		c.rebalanceLoad()
	}
}

// rebalanceLoad pauses partitions that have too many unanswered requests. It resumes paused partitions that have only
// few unanswered requests left.
func (c *consumer) rebalanceLoad() {
	c.pausing.Lock()
	defer c.pausing.Unlock()
	pause, resume := c.balance()
	if len(pause) > 0 {
		c.client.PauseFetchPartitions(map[string][]int32{c.Kafka.Requests: pause})
	}
	if len(resume) > 0 {
		c.client.ResumeFetchPartitions(map[string][]int32{c.Kafka.Requests: resume})
	}
}

// start adds a request to its session. The requests of one session run one after the other.
func (c *consumer) start(member, abort context.Context, r *kgo.Record) {
	d := c.receive(r)
	if _, first := c.add(d); first {
		c.tools.Go(func() {
			for item := c.begin(d.SessionID); item != nil; item = c.begin(d.SessionID) {
				answers, ok := c.answerTo(member, abort, item)
				c.end(item, answers, ok)
			}
		})
	}
}

// assigned starts to consume partitions at their committed offsets. The metadata of an offset marks later requests that
// were already answered, so that they are not answered again. If the offsets cannot be read, the membership ends, and
// the next membership reads them again.
func (c *consumer) assigned(ctx context.Context, ids []int32) {
	if len(ids) == 0 {
		return
	}
	positions, err := c.committed(ctx)
	if err != nil {
		c.fail(fmt.Errorf("read the committed offsets: %w", err))
		return
	}
	for _, id := range ids {
		at := positions[id]
		c.assign(id, at.offset, at.metadata)
	}
}

// gone releases partitions that are assigned to another server. lost states that this server has already lost the
// partitions.
func (c *consumer) gone(ids []int32, lost bool) {
	if len(ids) == 0 {
		return
	}
	until := time.Now().Add(releaseWithin)
	timer := time.AfterFunc(releaseWithin, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	defer timer.Stop()
	c.release(ids, lost, func() bool { return !time.Now().Before(until) })
	c.pausing.Lock()
	defer c.pausing.Unlock()
	c.client.ResumeFetchPartitions(map[string][]int32{c.Kafka.Requests: ids}) // Resume the partitions in case they are assigned to this server again.
}

// committed returns the group's committed offset and its metadata for each partition.
func (c *consumer) committed(ctx context.Context) (map[int32]position, error) {
	ctx, cancel := context.WithTimeout(ctx, groupWithin)
	defer cancel()
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Group, request.RequireStable = c.Kafka.Group, true
	for {
		response, err := request.RequestWith(ctx, c.side)
		if err != nil {
			return nil, err
		}
		positions, err := c.positionsOf(response)
		if !kerr.IsRetriable(err) {
			return positions, err
		}
		pause(ctx, 50*time.Millisecond)
	}
}

func (c *consumer) positionsOf(response *kmsg.OffsetFetchResponse) (map[int32]position, error) {
	if err := kerr.ErrorForCode(response.ErrorCode); err != nil {
		return nil, err
	}
	positions := map[int32]position{}
	for _, topic := range response.Topics {
		if topic.Topic != c.Kafka.Requests {
			continue
		}
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, err
			}
			at := position{offset: p.Offset}
			if p.Metadata != nil {
				at.metadata = *p.Metadata
			}
			positions[p.Partition] = at
		}
	}
	return positions, nil
}

// leave leaves the consumer group, so that other servers get the partitions at once. This must be done explicitly,
// because a Kafka client with an instance ID does not leave the group when it is closed.
func (c *consumer) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), groupWithin)
	defer cancel()
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Group = c.Kafka.Group
	member := kmsg.NewLeaveGroupRequestMember()
	member.InstanceID = &c.Instance
	request.Members = append(request.Members, member)
	if _, err := request.RequestWith(ctx, c.side); err != nil {
		c.Log.LogAttrs(ctx, slog.LevelDebug, "Kafka: leave the group", slog.Any("error", err))
	}
}
