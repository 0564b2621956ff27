package framing_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/atelier-run/atelier/server/framing"
)

// TestWatch_OwnConnContext_StillCalled checks that Watch still calls the server's own ConnContext. There the server
// limits the kernel's buffer of each connection. Without this limit, a client that does not read could use megabytes of
// memory.
func TestWatch_OwnConnContext_StillCalled(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	type key struct{}
	limited := make(chan bool, 1)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Context().Value(key{}) == nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			buffered, ok := c.(interface{ SetWriteBuffer(bytes int) error })
			limited <- ok && buffered.SetWriteBuffer(64<<10) == nil
			return context.WithValue(ctx, key{}, true)
		},
	}
	served := make(chan error, 1)
	watched := framing.Watch(server, listener)
	go func() { served <- server.Serve(watched) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	answer, err := http.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || !<-limited {
		t.Errorf("status %d", answer.StatusCode)
	}
}
