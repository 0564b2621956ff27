package load

import (
	"context"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"
)

// Socket opens a WebSocket that sends the events of a run, beginning with the first event.
func (c Client) Socket(ctx context.Context, run string) (*websocket.Conn, error) {
	url := "ws" + strings.TrimPrefix(c.Base, "http") + "/api/v1/runs/" + run + "/stream?from=0"
	socket, response, err := websocket.DefaultDialer.DialContext(ctx, url, http.Header{"Authorization": {"Bearer " + token}})
	if response != nil && response.Body != nil {
		response.Body.Close()
	}
	return socket, err
}
