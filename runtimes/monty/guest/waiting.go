package guest

import (
	"encoding/json"
	"fmt"

	"github.com/atelier-run/atelier/runtimes"
	pb "github.com/atelier-run/atelier/runtimes/monty/montypb"
)

// Version is the version of the interpreter that this package supports. Only the version that wrote a saved state can
// continue from it.
const Version = "1.4.0"

// mostState is the maximum size of the saved state of a waiting program in bytes. A state of this size fits into a host
// call. A larger state is not saved.
const mostState = 640 << 10

// Waiting is the saved state of a program that waits for the end of another run. Another process can continue it.
type Waiting struct {
	RunID string `json:"runId"`
	Maker string `json:"maker,omitempty"` // version of the interpreter that wrote the state
	// The interpreter's saved state; empty if another process cannot continue the program.
	State     []byte      `json:"state,omitempty"`
	Responses []*response `json:"responses,omitempty"`
}

// wait waits for the end of a called run and returns its output. Meanwhile the program stays in this process, and the
// server stores its state. After a restart of the server, another process continues the program from the state.
func (s *session) wait(runID string) (json.RawMessage, error) {
	event, err := s.ask(&pb.ParentRequest{Kind: &pb.ParentRequest_Dump{Dump: &pb.Unit{}}})
	if err != nil {
		return nil, err
	}
	waiting := Waiting{RunID: runID}
	if state := event.GetDumpResult().GetState(); len(state) > 0 && len(state)+s.kept() <= mostState {
		waiting.Maker, waiting.State, waiting.Responses = Version, state, s.responses
	}
	return s.host.call(runtimes.AwaitFunction, waiting)
}

// kept returns the approximate size of the stored responses in bytes.
func (s *session) kept() (bytes int) {
	for _, r := range s.responses {
		bytes += len(r.URL) + len(r.Base64) + 1<<10
		if r.Text != nil {
			bytes += 2 * len(*r.Text)
		}
	}
	return bytes
}

// resume continues a program from its saved state.
func (s *session) resume() (json.RawMessage, *runtimes.ProgramError, error) {
	event, err := s.ask(&pb.ParentRequest{Kind: &pb.ParentRequest_Load{Load: &pb.State{State: s.job.Resume.State}}})
	if err != nil {
		return nil, nil, err
	}
	call := event.GetFunctionCall()
	if call == nil {
		return nil, nil, fmt.Errorf("the stored state does not wait at a call: %s", event.GetError().GetException().GetMessage())
	}
	s.responses = s.job.Resume.Responses
	values := &arena{}
	output, err := s.host.call(runtimes.AwaitFunction, s.job.Resume)
	var result uint32
	if err == nil {
		result, err = values.json(output)
	}
	request, err := s.answered(call.GetCallId(), values, result, err)
	if err != nil {
		return nil, nil, err
	}
	done, failure, err := s.proceed(request, false)
	if failure != nil || err != nil {
		return nil, failure, err
	}
	return s.result(done)
}
