package remote

import (
	"context"
	"io"
	"net/http"

	"github.com/atelier-run/atelier/runtimes"
)

// openAPI executes the program with one HTTP request. If the service may have received the request, openAPI repeats it
// only if the service is declared idempotent.
func (c *call) openAPI(ctx context.Context) runtimes.Outcome {
	body, err := c.program()
	if err != nil {
		return runtimes.Failed(runtimes.RuntimeError, "The input is not valid JSON.")
	}
	c.started()
	headers := map[string]string{"Accept": "application/json"}
	// Other services receive no key: with a key, a service may continue the program after the caller has disconnected.
	if c.service.Idempotent {
		headers["Idempotency-Key"] = key(c.job)
	}
	for attempt := 1; ; attempt++ {
		answer, failure := c.send(ctx, request{method: http.MethodPost, url: c.service.URL, body: body, headers: headers, safe: c.service.Idempotent})
		if failure != nil {
			return *failure
		}
		data, err := io.ReadAll(io.LimitReader(answer.Body, c.mostAnswer()+1))
		_ = answer.Body.Close()
		switch {
		case int64(len(data)) > c.mostAnswer():
			return c.relay.TooLarge()
		case answer.StatusCode == http.StatusAccepted:
			return c.failed("answered before the program ended.", "Use a service that waits for the program, or the protocol atelier.")
		case err == nil:
			return c.whole(data)
		case ctx.Err() != nil:
			return c.ended(ctx)
		}
		if !c.service.Idempotent || attempt == maxAttempts {
			return c.failed("sent an incomplete answer.", "Find out whether the program had an effect before you run it again.")
		}
		if !c.pause(ctx, attempt, 0) {
			return c.ended(ctx)
		}
	}
}

// key returns the Idempotency-Key of a run.
func key(job runtimes.Job) string { return "atelier-" + job.RunID }

// started starts the program's time limit. Only the first call has an effect, so the service cannot extend the time.
func (c *call) started() {
	if c.running.CompareAndSwap(false, true) {
		c.timer.Reset(limit(c.job) + c.engine.options.Grace)
	}
}
