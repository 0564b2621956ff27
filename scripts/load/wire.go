package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// answerTimeout is the maximum time to wait for an answer.
	answerTimeout = 2 * time.Minute
	// kept is the maximum time for which a reused connection was idle. After a longer time, the server may have closed the
	// connection.
	kept = 5 * time.Second
)

// wire is an HTTP client that uses little CPU time, because it runs on the same machine as the measured server. The
// client of net/http uses two goroutines per connection and a timer per request.
type wire struct {
	host string

	mu   sync.Mutex
	free []*line // idle connections; the most recently used connection is last
}

// line is a connection to the server. Only one caller uses it at a time.
type line struct {
	net.Conn
	answers *bufio.Reader
	request []byte
	used    time.Time
}

// Post sends JSON with the client wire. It returns a *Refusal for any status other than 2xx. Cancelling the context
// does not interrupt the call.
func (c Client) Post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return c.wire.post(ctx, path, body)
}

// newWire returns a wire that has no connections yet.
func newWire(base string) *wire { return &wire{host: strings.TrimPrefix(base, "http://")} }

func (w *wire) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	l, err := w.take(ctx)
	if err != nil {
		return nil, err
	}
	response, answer, err := l.post(w.host, path, body)
	if err != nil || response.Close {
		l.Close()
	} else {
		w.give(l)
	}
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = &Refusal{Status: response.StatusCode, RetryAfter: response.Header.Get("Retry-After"), Body: string(answer)}
	}
	return answer, err
}

func (w *wire) take(ctx context.Context) (*line, error) {
	w.mu.Lock()
	for len(w.free) > 0 {
		last := len(w.free) - 1
		l := w.free[last]
		w.free = w.free[:last]
		if time.Since(l.used) < kept {
			w.mu.Unlock()
			return l, nil
		}
		l.Close()
	}
	w.mu.Unlock()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", w.host)
	if err != nil {
		return nil, err
	}
	return &line{Conn: conn, answers: bufio.NewReader(conn)}, nil
}

func (w *wire) give(l *line) {
	l.used = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = append(w.free, l)
}

// post returns a response and its body.
func (l *line) post(host, path string, body []byte) (*http.Response, []byte, error) {
	l.request = fmt.Appendf(l.request[:0], "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		path, host, token, len(body))
	l.request = append(l.request, body...)
	if err := l.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return nil, nil, err
	}
	if _, err := l.Write(l.request); err != nil {
		return nil, nil, err
	}
	response, err := http.ReadResponse(l.answers, nil)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response, answer, err
}
