package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// talking is the name of a program that writes output for about two seconds. So a kill cuts the connections of its
// readers.
const talking = "talking"

func talkingProgram() load.Program {
	p := load.Hello()[1]
	p.Name = talking
	p.Code = "import time\n\ndef main(input, ctx):\n    for i in range(100):\n        print(i, flush=True)\n        time.sleep(0.02)\n    return {\"sum\": input[\"a\"] + input[\"b\"]}\n"
	return p
}

// reader is a client that follows the events of one run.
type reader struct {
	run  string
	last int64 // number of the last event that the reader has received
	end  string
}

// read follows the events of runs until the server stops.
func read(ctx context.Context, c load.Client, all *ledger, round int) {
	for n := 0; ; n++ {
		body := fmt.Appendf(nil, `{"version":"1.0.0","input":%s}`, talkingProgram().Input(round*1000+n))
		answer, err := c.Call(ctx, http.MethodPost, "/api/v1/code-agents/"+talking+"/execute", body, map[string]string{"Prefer": "respond-async"})
		var refused *load.Refusal
		if errors.As(err, &refused) && all.waits(refused) {
			time.Sleep(refusedPause)
			continue
		}
		var got struct{ RunID string }
		if err != nil || json.Unmarshal(answer, &got) != nil {
			return
		}
		r := &reader{run: got.RunID}
		all.reads(r)
		if r.follow(ctx, c) != nil {
			return // the server was killed; look resumes this reader later
		}
	}
}

// followPatience is the maximum time in which a reader must receive the end of its run. The program runs for two
// seconds.
const followPatience = 30 * time.Second

// follow reads the events that the reader has not received yet, up to the result. It returns an error if the connection
// is cut.
func (r *reader) follow(ctx context.Context, c load.Client) error {
	ctx, cancel := context.WithTimeout(ctx, followPatience)
	defer cancel()
	for r.end == "" {
		err := c.Events(ctx, r.run, r.last, func(seq int64, kind string, data []byte) error {
			if seq <= r.last {
				return fmt.Errorf("run %s shows event %d after %d", r.run, seq, r.last)
			}
			r.last = seq
			if kind == "result" {
				var result struct{ Data struct{ Status string } }
				if err := json.Unmarshal(data, &result); err != nil {
					return err
				}
				r.end = result.Data.Status
			}
			return nil
		})
		var refused *load.Refusal
		if errors.As(err, &refused) && refused.RetryAfter != "" && ctx.Err() == nil {
			time.Sleep(refusedPause)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// resume continues the readers whose connections the kill has cut. Each must get the result of its run. The run's
// record must have the same status.
func resume(ctx context.Context, c load.Client, readers []*reader) error {
	var faults []error
	for _, r := range readers {
		if r.end == "" {
			if err := r.follow(ctx, c); err != nil {
				faults = append(faults, fmt.Errorf("the reader of run %s at event %d has no end: %w", r.run, r.last, err))
				continue
			}
		}
		var run load.Run
		if err := c.Get(ctx, "/api/v1/runs/"+r.run, &run); err != nil {
			faults = append(faults, err)
		} else if run.Status != r.end {
			faults = append(faults, fmt.Errorf("run %s ended as %s for its reader and is found %s", r.run, r.end, run.Status))
		}
	}
	return errors.Join(faults...)
}
