package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

const (
	growing = "growing"
	keyed   = "keyed" // only runs with an Idempotency-Key
)

// prepare publishes the programs that the clients run. It does nothing after the first round.
func prepare(ctx context.Context, c load.Client, round int) error {
	if round > 0 {
		return nil
	}
	for _, p := range load.Hello() {
		if err := c.Publish(ctx, p); err != nil {
			return err
		}
	}
	if err := c.Publish(ctx, talkingProgram()); err != nil {
		return err
	}
	for _, name := range []string{growing, keyed} {
		p := load.Hello()[0]
		p.Name = name
		if err := c.Publish(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// waits reports whether the client may retry a refused request. It may if the queue is full, which can happen on a slow
// machine. It also may if the database does not answer while PostgreSQL is disturbed. The refusal must contain a
// Retry-After.
func (l *ledger) waits(refused *load.Refusal) bool {
	full, down := refused.Status == http.StatusTooManyRequests, refused.Status == http.StatusServiceUnavailable && l.disturbed
	return refused.RetryAfter != "" && (full || down)
}

// refusedPause is the delay before a retry. It is shorter than Retry-After, so that requests arrive immediately after
// an outage.
const refusedPause = 100 * time.Millisecond

// execute requests runs, mostly in JavaScript, until the server stops.
func execute(ctx context.Context, c load.Client, all *ledger, round, client int) {
	programs := load.Hello()
	for n := 0; ; n++ {
		p := programs[0]
		if n%8 == 7 {
			p = programs[1+client%2]
		}
		input := round*1_000_000 + client*10_000 + n
		run, err := c.Execute(ctx, p, input)
		var refused *load.Refusal
		switch {
		case errors.As(err, &refused) && all.waits(refused):
			time.Sleep(refusedPause)
			continue
		case errors.As(err, &refused):
			all.wrong(fmt.Errorf("refused: %w", err))
			return
		case err != nil: // the server has stopped
			return
		}
		if all.disturbed && run.Status == "interrupted" { // the answer says that the run was interrupted; look compares the answer with the record
			all.took(run.RunID)
			continue
		}
		if err := p.Check(run, input); err != nil {
			all.wrong(err)
			return
		}
		all.answered(run.RunID, p.Want(input))
	}
}

// accept requests runs and does not wait for them. Later, each of these runs must exist with a final status.
func accept(ctx context.Context, c load.Client, all *ledger, round int) {
	p := load.Hello()[0]
	for n := 0; ; n++ {
		body := fmt.Appendf(nil, `{"version":"1.0.0","input":%s}`, p.Input(round*1000+n))
		answer, err := c.Call(ctx, http.MethodPost, "/api/v1/code-agents/"+p.Name+"/execute", body, map[string]string{"Prefer": "respond-async"})
		var refused *load.Refusal
		if errors.As(err, &refused) && all.waits(refused) {
			time.Sleep(refusedPause)
			continue
		}
		var got struct{ RunID string }
		if err != nil || json.Unmarshal(answer, &got) != nil {
			return
		}
		all.took(got.RunID)
	}
}

// publish changes and publishes an agent until the server stops.
func publish(ctx context.Context, c load.Client, all *ledger, round int) {
	for n := 1; ; n++ {
		version := fmt.Sprintf("1.%d.%d", round+1, n)
		digest, err := publishOne(ctx, c, all, version, n%4 == 0 && !all.noBlobs)
		var refused *load.Refusal
		switch {
		case errors.As(err, &refused) && all.waits(refused): // the server may have published the version, so the next attempt uses another number
			time.Sleep(refusedPause)
			continue
		case errors.As(err, &refused):
			all.wrong(fmt.Errorf("publish %s: %w", version, err))
			return
		case err != nil:
			return
		}
		all.published(version, digest)
	}
}

// largeFile is the size in bytes of a file that is too large for a row of the database. The server stores the files of
// such a version as a blob.
const largeFile = 150_000

// publishOne saves a draft and publishes it. If large is set, the draft contains a file that the server stores as a
// blob.
func publishOne(ctx context.Context, c load.Client, all *ledger, version string, large bool) (string, error) {
	var agent struct{ Draft struct{ Revision int } }
	if err := c.Get(ctx, "/api/v1/code-agents/"+growing, &agent); err != nil {
		return "", err
	}
	p := load.Hello()[0]
	files := map[string]string{p.Entrypoint: p.Code + "// " + version + "\n"}
	if large {
		files["data.txt"] = strings.Repeat(version+"\n", largeFile/len(version))
	}
	draft, err := json.Marshal(map[string]any{
		"language": p.Language, "files": files, "entrypoint": p.Entrypoint,
		"inputSchema": p.Takes, "outputSchema": p.Gives,
	})
	if err != nil {
		return "", err
	}
	revision := map[string]string{"If-Match": fmt.Sprintf("%q", fmt.Sprint(agent.Draft.Revision))}
	answer, err := c.Call(ctx, http.MethodPut, "/api/v1/code-agents/"+growing, draft, revision)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(answer, &agent); err != nil {
		return "", err
	}
	all.saved(agent.Draft.Revision, files)
	answer, err = c.Call(ctx, http.MethodPost, "/api/v1/code-agents/"+growing+"/versions", fmt.Appendf(nil, `{"version":%q,"changelog":"next"}`, version), nil)
	if err != nil {
		return "", err
	}
	var got struct{ Digest string }
	if err := json.Unmarshal(answer, &got); err != nil {
		return "", err
	}
	if got.Digest == "" {
		return "", fmt.Errorf("%s was published without a digest: %s", version, answer)
	}
	if large {
		all.largeOne(version, files["data.txt"])
	}
	return got.Digest, nil
}

// executeOnce requests runs, each with a different Idempotency-Key, until the server is killed. The last request then
// has no answer. It is repeated later.
func executeOnce(ctx context.Context, c load.Client, all *ledger, round int) {
	for n := 0; ; n++ {
		key := fmt.Sprintf("%d-%d", round, n)
		all.asked(key, "")
		id, err := executeKeyed(ctx, c, key)
		var refused *load.Refusal
		for errors.As(err, &refused) && all.waits(refused) { // if the request is repeated with the same key, the server must not run the program twice
			time.Sleep(refusedPause)
			refused = nil
			id, err = executeKeyed(ctx, c, key)
		}
		if err != nil {
			return
		}
		all.asked(key, id)
	}
}

func executeKeyed(ctx context.Context, c load.Client, key string) (string, error) {
	body := fmt.Appendf(nil, `{"version":"1.0.0","input":%s}`, load.Hello()[0].Input(1))
	answer, err := c.Call(ctx, http.MethodPost, "/api/v1/code-agents/"+keyed+"/execute", body, map[string]string{"Idempotency-Key": key})
	if err != nil {
		return "", err
	}
	var got struct{ RunID string }
	err = json.Unmarshal(answer, &got)
	return got.RunID, err
}
