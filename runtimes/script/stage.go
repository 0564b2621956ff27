package script

import (
	"bufio"
	"encoding/json"
	"net"
	"sync"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// stage runs a script in place of a sandboxed worker. It has no kernel limits, so the methods that need kernel limits
// do nothing.
type stage struct {
	server net.Conn
	kill   func()
	killed chan struct{}
	joined sync.WaitGroup
}

func newStage(job runtimes.Job) *stage {
	server, client := net.Pipe()
	s := &stage{server: server, killed: make(chan struct{})}
	s.kill = sync.OnceFunc(func() {
		_ = client.Close()
		close(s.killed)
	})
	s.joined.Go(func() {
		defer s.kill()
		perform(job, client, s.killed)
	})
	return s
}

func (s *stage) Conn() net.Conn              { return s.server }
func (s *stage) Limit(runtimes.Limits) error { return nil }
func (s *stage) ResetPeak()                  {}
func (s *stage) Usage() sandbox.Usage        { return sandbox.Usage{} }
func (s *stage) CPU() time.Duration          { return 0 }
func (s *stage) Kill()                       { s.kill() }
func (s *stage) Done() <-chan struct{}       { return s.killed }
func (s *stage) Network() net.Listener       { return nil }

func (s *stage) Wait() sandbox.Exit {
	s.joined.Wait()
	return sandbox.Exit{}
}

// perform reads the job, executes the script and sends the result. A broken connection means that the run was killed.
func perform(job runtimes.Job, conn net.Conn, killed <-chan struct{}) {
	in := frames.NewReader(bufio.NewReader(conn), map[frames.Kind]int{frames.Job: frames.MaxFrame, frames.Reply: frames.MaxFrame})
	a := actor{job: job, in: in, out: frames.NewWriter(conn), killed: killed, output: json.RawMessage("null")}
	if _, _, err := in.Read(); err != nil {
		return
	}
	if a.out.Write(frames.Started, nil) != nil {
		return
	}
	failure, err := a.play(job.Entrypoint, 0)
	if err != nil {
		return
	}
	result := frames.Result{Error: failure}
	if failure == nil {
		result.Output = a.output
	}
	_ = a.out.WriteJSON(frames.Done, result)
}
