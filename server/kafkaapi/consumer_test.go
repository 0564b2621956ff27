package kafkaapi

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// If the committed offsets cannot be read, the membership must end, and no partition may be consumed. Otherwise later
// requests that were already answered would be answered again.
func TestAssigned_OffsetsUnreadable_MembershipEnds(t *testing.T) {
	t.Parallel()
	side, err := kgo.NewClient(kgo.SeedBrokers("127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	member, fail := context.WithCancelCause(t.Context())
	c := &consumer{API: &API{side: side}, window: newWindow(), fail: fail}
	asking, cancel := context.WithCancel(t.Context())
	cancel()
	c.assigned(asking, []int32{1})
	if context.Cause(member) == nil {
		t.Error("the membership goes on")
	}
	if taken, _ := c.add(received(0, "s", 1)); taken {
		t.Error("a request is taken")
	}
}
