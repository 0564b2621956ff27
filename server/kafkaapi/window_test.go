package kafkaapi

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kgo"
)

func received(offset int64, session string, bytes int) delivery {
	return delivery{request: request{EventID: fmt.Sprint(offset), SessionID: session}, record: &kgo.Record{Partition: 1, Offset: offset, Value: make([]byte, bytes)}}
}

// Results of requests after a slow one are published at once. The committed offset stays at the slow request. Its
// metadata marks the answered requests, so that the next owner of the partition does not answer them again.
func TestWindow_SlowRequest_OthersArePublished(t *testing.T) {
	t.Parallel()
	w := newWindow()
	w.assign(1, 10, "")
	for offset := int64(10); offset < 15; offset++ {
		if taken, first := w.add(received(offset, fmt.Sprint("session ", offset), 1)); !taken || !first {
			t.Fatalf("offset %d: taken %t, first %t", offset, taken, first)
		}
	}
	for _, offset := range []int{10, 12, 14, 11} {
		item := w.begin(fmt.Sprint("session ", offset))
		if offset != 11 {
			w.end(item, []*kgo.Record{{Value: []byte("result")}}, true)
		}
	}
	c := w.collect()
	at := c.offsets[1]
	if len(c.items) != 3 || at.offset != 11 {
		t.Fatalf("%d results with offset %d, want 3 with 11", len(c.items), at.offset)
	}
	w.published(c)
	if again := w.collect(); len(again.items) > 0 {
		t.Errorf("%d results are published twice", len(again.items))
	}

	next := newWindow()
	next.assign(1, at.offset, at.metadata)
	for offset, want := range map[int64]bool{9: false, 10: false} {
		if taken, _ := next.add(received(offset, "s", 1)); taken != want {
			t.Errorf("offset %d is taken", offset)
		}
	}
	for _, one := range []struct {
		offset int64
		want   bool
	}{{11, true}, {12, false}, {13, true}, {14, false}, {15, true}} {
		if taken, _ := next.add(received(one.offset, fmt.Sprint(one.offset), 1)); taken != one.want {
			t.Errorf("the next owner takes offset %d: %t, want %t", one.offset, taken, one.want)
		}
	}
}

// publishAll publishes all available results.
func publishAll(w *window) {
	for c := w.collect(); len(c.items) > 0; c = w.collect() {
		w.published(c)
	}
}

// A partition is paused if it has too many unanswered requests or if these are too large. It is resumed when half of
// them are answered.
func TestWindow_FullPartition_Paused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ count, bytes int }{"many": {int(pauseBytes/(sizeOf(received(0, "0", 1).record)+requestBytes)) + 1, 1}, "large": {17, 1 << 20}} {
		w := newWindow()
		w.assign(1, 0, "")
		for offset := range tt.count {
			w.add(received(int64(offset), fmt.Sprint(offset), tt.bytes))
		}
		if pause, _ := w.balance(); len(pause) != 1 {
			t.Errorf("%s: the partition is not paused", name)
		}
		for n := range tt.count {
			w.end(w.begin(fmt.Sprint(n)), nil, true)
			if n != tt.count/2+1 {
				continue
			}
			publishAll(w)
			if _, resume := w.balance(); len(resume) != 1 {
				t.Errorf("%s: the partition is not resumed", name)
			}
		}
		publishAll(w)
		if requests, paused := w.load(); requests != 0 || paused != 0 || w.bytes != 0 {
			t.Errorf("%s: %d requests with %d bytes and %d paused partitions are left", name, requests, w.bytes, paused)
		}
	}
}

// While many requests of many sessions are unanswered, no requests are polled. If they have too few sessions to keep all
// places busy, requests are polled.
func TestWindow_ManyRequests_NoPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWindow()
		w.assign(1, 0, "")
		for offset := range waitRecords {
			w.add(received(int64(offset), fmt.Sprint(offset%10), 1))
		}
		never := func() bool { return false }
		w.awaitPoll(11, never)
		polled := false
		go func() {
			w.awaitPoll(10, never)
			polled = true
		}()
		synctest.Wait()
		if polled {
			t.Error("requests were polled although enough of them wait")
		}
		w.end(w.begin("0"), nil, true)
		publishAll(w)
		synctest.Wait()
		if !polled {
			t.Error("no requests were polled after one was answered")
		}
	})
}

// Releasing a partition waits for its running tool and the commit of the result, and starts no further tool. If the
// partition is lost, it does not wait, and the result is not committed.
func TestWindow_ReleasedPartition_RunningToolFinishes(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		w := newWindow()
		w.assign(1, 0, "")
		w.add(received(0, "a", 1))
		w.add(received(1, "b", 1))
		running := w.begin("a")
		released := make(chan struct{})
		go func() {
			defer close(released)
			w.release([]int32{1}, lost, func() bool { return false })
		}()
		if lost {
			<-released
		}
		w.mu.Lock()
		for !running.partition.closing {
			w.changed.Wait()
		}
		w.mu.Unlock()
		if item := w.begin("b"); item != nil {
			t.Error("a request of a released partition starts")
		}
		w.end(running, []*kgo.Record{{}}, true)
		c := w.collect()
		if lost == (len(c.items) == 1) {
			t.Errorf("lost %t: %d results", lost, len(c.items))
		}
		w.published(c)
		<-released
	}
}

// If a new owner of a partition commits before it has polled all answered requests, the marks of the remaining ones
// must stay in the metadata.
func TestWindow_MarksBeyondPoll_Kept(t *testing.T) {
	t.Parallel()
	answered := marks{base: 10}
	for offset := int64(11); offset < 30; offset++ {
		answered.add(offset)
	}
	w := newWindow()
	w.assign(1, 10, answered.String())
	for offset := int64(10); offset < 20; offset++ {
		w.add(received(offset, fmt.Sprint(offset), 1))
	}
	w.end(w.begin("10"), []*kgo.Record{{Value: []byte("result")}}, true)
	at := w.collect().offsets[1]
	kept := parseMarks(at.offset, at.metadata)
	if at.offset != 20 || !kept.has(20) || !kept.has(29) || kept.has(30) {
		t.Errorf("offset %d with marks %+v, want 20 with 20 to 29", at.offset, kept)
	}
}

// Results that are not committed yet count like requests. A transaction contains only a limited number of them, and its
// offsets and marks do not include the others.
func TestWindow_LargeResults_SeveralTransactions(t *testing.T) {
	t.Parallel()
	const count, size = 20, 1 << 20
	w := newWindow()
	w.assign(1, 0, "")
	for n := range count {
		w.add(received(int64(n), fmt.Sprint(n), 1))
	}
	for n := range count {
		w.end(w.begin(fmt.Sprint(n)), []*kgo.Record{{Value: make([]byte, size)}}, true)
	}
	if w.bytes < count*size {
		t.Errorf("the window has %d bytes", w.bytes)
	}
	if pause, _ := w.balance(); len(pause) != 1 {
		t.Error("a partition with many bytes of results is not paused")
	}
	published := int64(0)
	for rounds := 0; published < count; rounds++ {
		c := w.collect()
		var bytes int
		for _, r := range c.answers() {
			bytes += len(r.Value)
		}
		if len(c.items) == 0 || bytes > commitBytes+size {
			t.Fatalf("transaction %d has %d results with %d bytes", rounds, len(c.items), bytes)
		}
		published += int64(len(c.items))
		if c.cut != (published < count) {
			t.Errorf("after %d of %d results, cut is %t", published, count, c.cut)
		}
		at := c.offsets[1]
		if at.offset != published || at.metadata != "" {
			t.Errorf("after %d results the offset is %d with marks %q", published, at.offset, at.metadata)
		}
		w.published(c)
	}
	if w.bytes != 0 {
		t.Errorf("%d bytes are left", w.bytes)
	}
}

// While unpublished results fill the window, no tool may start. When their transaction ends, the tool starts.
func TestWindow_FullOfResults_ToolWaits(t *testing.T) {
	t.Parallel()
	w := newWindow()
	w.assign(1, 0, "")
	w.add(received(0, "a", 1))
	w.add(received(1, "b", 1))
	w.end(w.begin("a"), []*kgo.Record{{Value: make([]byte, allBytes)}}, true)
	next := w.begin("b")
	var order []string
	done := make(chan struct{})
	w.mu.Lock()
	go func() {
		defer close(done)
		w.awaitPublication(next)
		w.mu.Lock()
		defer w.mu.Unlock()
		order = append(order, "started")
	}()
	c := w.collect()
	for range 100 { // Let the goroutine run until it waits.
		w.mu.Unlock()
		runtime.Gosched()
		w.mu.Lock()
	}
	order = append(order, "published")
	w.mu.Unlock()
	w.published(c)
	<-done
	if !slices.Equal(order, []string{"published", "started"}) {
		t.Errorf("the order is %v", order)
	}
	for _, release := range []func(){func() { w.stopped = true }, func() { w.stopped, next.partition.closing = false, true }} {
		w.bytes = allBytes
		release()
		w.awaitPublication(next)
	}
}
