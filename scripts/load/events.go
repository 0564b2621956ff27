package load

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Events reads the events of a run that follow the given sequence number, and calls each for every event. It returns
// when the server ends the stream. If the server refuses the request, the error is a *Refusal.
func (c Client) Events(ctx context.Context, run string, after int64, each func(seq int64, kind string, data []byte) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base+"/api/v1/runs/"+run+"/events", http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Last-Event-ID", strconv.FormatInt(after, 10))
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body) // the status is reported as the error
		return &Refusal{Status: response.StatusCode, RetryAfter: response.Header.Get("Retry-After"), Body: string(text)}
	}
	lines := bufio.NewReader(response.Body)
	var seq int64
	var kind string
	var data []byte
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case len(line) == 0:
			if kind != "" || data != nil {
				if err := each(seq, kind, data); err != nil {
					return err
				}
			}
			kind, data = "", nil
		case name == "id":
			if seq, err = strconv.ParseInt(value, 10, 64); err != nil {
				return err
			}
		case name == "event":
			kind = value
		case name == "data":
			data = append(data, value...)
		}
	}
}
