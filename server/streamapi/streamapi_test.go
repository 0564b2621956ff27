package streamapi_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/server/streamapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tape sends the events of a run. Afterwards it is silent until the reader disconnects or the run ends.
type tape struct {
	events []runtimes.Event
	hold   bool
	asked  atomic.Int64
}

func (f *tape) Next(ctx context.Context) (runtimes.Event, error) {
	f.asked.Add(1)
	if len(f.events) > 0 {
		e := f.events[0]
		f.events = f.events[1:]
		return e, nil
	}
	if !f.hold {
		return runtimes.Event{}, io.EOF
	}
	<-ctx.Done()
	return runtimes.Event{}, ctx.Err()
}

func events(n int, data string) []runtimes.Event {
	var all []runtimes.Event
	for seq := range n {
		e := runtimes.Text(runtimes.KindStdout, data)
		e.Seq = int64(seq + 1)
		all = append(all, e)
	}
	return all
}

type testAPI struct {
	*streamapi.API
	url string
}

func serve(t *testing.T, o streamapi.Options) testAPI {
	t.Helper()
	o.Refuse = problem.Writer{Log: slog.New(slog.DiscardHandler)}
	d := streamapi.New(o)
	r := chi.NewRouter()
	r.Handle("/runs/{run}/stream", d)
	s := httptest.NewServer(r)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		d.Close(ctx)
		s.Close()
	})
	return testAPI{d, "ws" + strings.TrimPrefix(s.URL, "http") + "/runs/r1/stream"}
}

func (d testAPI) dial(t *testing.T, query string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial(d.url+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// rest reads from the connection until the connection is closed.
func rest(t *testing.T, conn *websocket.Conn) (texts []string, closed *websocket.CloseError) {
	t.Helper()
	for {
		_, text, err := conn.ReadMessage()
		if err != nil {
			ce, ok := err.(*websocket.CloseError)
			if !ok {
				t.Fatalf("ended with %v", err)
			}
			return texts, ce
		}
		texts = append(texts, strings.TrimSpace(string(text)))
	}
}

func follow(f streamapi.Follower) streamapi.Follow {
	return func(context.Context, registry.Actor, string, int64) (streamapi.Follower, error) { return f, nil }
}

func TestOneEventForEachFrameThenClose(t *testing.T) {
	t.Parallel()
	var from int64
	d := serve(t, streamapi.Options{Follow: func(_ context.Context, _ registry.Actor, run string, seq int64) (streamapi.Follower, error) {
		from = seq
		return &tape{events: events(3, run+" <&>")}, nil
	}})
	texts, closed := rest(t, d.dial(t, "?from=7"))
	if len(texts) != 3 || from != 7 || closed.Code != websocket.CloseNormalClosure {
		t.Fatalf("got %q from %d, closed %v", texts, from, closed)
	}
	var e runtimes.Event
	if err := json.Unmarshal([]byte(texts[2]), &e); err != nil || e.Seq != 3 {
		t.Errorf("got %s, %v", texts[2], err)
	}
}

func TestRefusalsComeBeforeTheUpgrade(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		query  string
		status int
	}{"unknown run": {"", 404}, "bad from": {"?from=x", 400}, "negative from": {"?from=-1", 400}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := serve(t, streamapi.Options{Follow: func(context.Context, registry.Actor, string, int64) (streamapi.Follower, error) {
				return nil, fault.New(fault.NotFound, "No such run.")
			}})
			_, answer, err := websocket.DefaultDialer.Dial(d.url+tt.query, nil)
			if err == nil || answer.StatusCode != tt.status || answer.Header.Get("Content-Type") != problem.MediaType {
				t.Errorf("got %v, %v", answer, err)
			}
		})
	}
}

func TestPlainRequestIsToldWhatThisIs(t *testing.T) {
	t.Parallel()
	d := serve(t, streamapi.Options{Follow: follow(&tape{})})
	answer, err := http.Get("http" + strings.TrimPrefix(d.url, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusUpgradeRequired || answer.Header.Get("Content-Type") != problem.MediaType {
		t.Errorf("got %v", answer)
	}
}

func TestPeerThatSpeaksIsClosed(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"a word": 4, "a book": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := serve(t, streamapi.Options{Follow: follow(&tape{hold: true})}).dial(t, "")
			_ = conn.WriteMessage(websocket.TextMessage, make([]byte, size)) // The server may disconnect in the middle of this.
			_, _, err := conn.ReadMessage()
			if size < 512 && !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
				t.Errorf("ended with %v", err)
			}
			if err == nil {
				t.Error("the connection is still open")
			}
		})
	}
}

func TestPeerThatLeavesEndsTheFollowing(t *testing.T) {
	t.Parallel()
	f := &tape{hold: true}
	d := serve(t, streamapi.Options{Follow: follow(f)})
	if err := d.dial(t, "").Close(); err != nil {
		t.Fatal(err)
	}
	d.Close(t.Context()) // Close returns only when the goroutines of the socket have ended.
}

func TestQuietSocketIsPinged(t *testing.T) {
	t.Parallel()
	conn := serve(t, streamapi.Options{Follow: follow(&tape{hold: true}), Ping: 5 * time.Millisecond}).dial(t, "")
	pings := 0
	conn.SetPingHandler(func(string) error {
		if pings++; pings == 3 {
			return io.EOF
		}
		return conn.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second))
	})
	if _, _, err := conn.ReadMessage(); err != io.EOF {
		t.Errorf("got %v after %d pings", err, pings)
	}
}

// chatter is a run that emits events until the channel enough is closed.
type chatter struct {
	seq    int64
	enough chan struct{}
}

func (f *chatter) Next(context.Context) (runtimes.Event, error) {
	select {
	case <-f.enough:
		return runtimes.Event{}, io.EOF
	default:
	}
	f.seq++
	e := runtimes.Text(runtimes.KindStdout, "x")
	e.Seq = f.seq
	return e, nil
}

// TestBusySocketIsPingedToo checks that pings are also sent while events arrive without a pause. Without pings, the
// client would count as disconnected.
func TestBusySocketIsPingedToo(t *testing.T) {
	t.Parallel()
	f := &chatter{enough: make(chan struct{})}
	conn := serve(t, streamapi.Options{Follow: follow(f), Ping: 5 * time.Millisecond, Write: 5 * time.Second}).dial(t, "")
	pings := 0
	conn.SetPingHandler(func(string) error {
		if pings++; pings == 3 {
			close(f.enough)
		}
		return conn.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Second))
	})
	if _, closed := rest(t, conn); closed.Code != websocket.CloseNormalClosure || pings < 3 {
		t.Errorf("closed %v after %d pings", closed, pings)
	}
}

func TestSlowReaderIsClosedWithWhereToComeBack(t *testing.T) {
	t.Parallel()
	conn := serve(t, streamapi.Options{Follow: follow(&tape{events: events(5, "x"), hold: true}), Slow: time.Nanosecond}).dial(t, "")
	texts, closed := rest(t, conn)
	if closed.Code != websocket.CloseTryAgainLater || !strings.Contains(closed.Text, "from=1") || len(texts) != 1 {
		t.Errorf("got %d events, closed %v", len(texts), closed)
	}
}

func TestReaderThatNeverReadsIsCutOff(t *testing.T) {
	t.Parallel()
	f := &tape{events: events(4000, strings.Repeat("x", runtimes.MaxChunk)), hold: true} // The events have more bytes than fit in the buffers of the sockets.
	d := serve(t, streamapi.Options{Follow: follow(f), Write: 50 * time.Millisecond})
	d.dial(t, "")
	d.Close(t.Context())
	if f.asked.Load() > 3000 {
		t.Errorf("%d events were taken for a reader that reads none", f.asked.Load())
	}
}

func TestStopClosesWithAReason(t *testing.T) {
	t.Parallel()
	d := serve(t, streamapi.Options{Follow: follow(&tape{events: events(1, "x"), hold: true})})
	conn := d.dial(t, "")
	if _, _, err := conn.ReadMessage(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	go d.Close(ctx)
	if _, closed := rest(t, conn); closed.Code != websocket.CloseGoingAway {
		t.Errorf("closed %v", closed)
	}
}
