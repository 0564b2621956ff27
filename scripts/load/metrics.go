package load

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// Metrics reads the metrics of a server. A key is the name of a metric with its labels.
func (c Client) Metrics(ctx context.Context) (map[string]float64, error) {
	text, err := c.Call(ctx, http.MethodGet, "/metrics", nil, nil)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for line := range strings.SplitSeq(string(text), "\n") {
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if n, err := strconv.ParseFloat(line[at+1:], 64); err == nil {
			values[line[:at]] = n
		}
	}
	return values, nil
}
