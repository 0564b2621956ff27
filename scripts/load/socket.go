package load

import (
	"context"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"
)

// Socket opens a WebSocket with the events of a run, from the first one.
func (c Client) Socket(ctx context.Context, run string) (*websocket.Conn, error) {
	url := "ws" + strings.TrimPrefix(c.Base, "http") + "/api/v1/runs/" + run + "/stream?from=0"
	socket, response, err := websocket.DefaultDialer.DialContext(ctx, url, http.Header{"Authorization": {"Bearer " + token}})
	if response != nil && response.Body != nil {
		response.Body.Close()
	}
	return socket, err
}
