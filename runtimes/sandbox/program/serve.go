package program

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Name is the role's name.
const Name = "program"

// Roles returns the roles for launcher.Main: one for programs that may start others, one for programs that may not,
// and one for resolvers of packages.
func Roles() []launcher.Role {
	return []launcher.Role{
		{Name: Name, Filter: sandbox.FilterProgram, Child: Serve},
		{Name: Name, Filter: sandbox.FilterAlone, Child: Serve},
		{Name: Name, Filter: sandbox.FilterInstaller, Child: Serve},
	}
}

// Serve runs one job in a child.
func Serve(child *launcher.Child, conn net.Conn) error {
	buffered := bufio.NewReader(conn)
	in := frames.NewReader(buffered, map[frames.Kind]int{frames.Job: frames.MaxFrame, frames.Reply: frames.MaxFrame, frames.Interrupt: 1 << 10})
	out := frames.NewWriter(conn)
	channel := &channel{fd: child.Channel()}
	relay := &relay{Child: child, channel: channel, out: out, buffered: buffered, release: func() {}}
	defer func() { relay.release() }()
	begun := child.Forked()

	job, err := relay.await(in, conn)
	if err != nil {
		return err
	}
	if job.Ahead {
		if err := child.Begin(job.command(), ""); err != nil {
			return err
		}
		begun = true
		if err := relay.untilReady(); err != nil {
			return err
		}
		if err := out.Write(frames.Ready, nil); err != nil {
			return err
		}
		if job, err = relay.await(in, conn); err != nil {
			return err
		}
	}
	if err := write(child, job.Files); errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return refuse(out, runtimes.DiskLimit)
	} else if err != nil {
		return err
	}
	if err := child.Limit(job.Rlimits); err != nil {
		return err
	}
	if !begun {
		if err := child.Begin(job.command(), job.Stdin); err != nil {
			return err
		}
	}
	return carryOut(job, relay, in, conn)
}

// carryOut forwards the data of a started program until the program ends, and sends the result.
func carryOut(job Job, relay *relay, in *frames.Reader, conn net.Conn) error {
	over := make(chan struct{})
	go func() {
		defer close(over)
		answer(in, relay)
	}()
	defer func() { // wait until answer has returned, because it uses the child's resources
		relay.Kill()
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-over
	}()
	relay.started, relay.keeps = job.Start == nil, job.Keep
	if job.Result == "" { // if the result is a file, the end message can only be an error without a result
		relay.largest = int(job.Largest)
	}
	if relay.started {
		if err := relay.out.Write(frames.Started, nil); err != nil {
			return err
		}
	}
	if job.Start != nil {
		relay.channel.line(job.Start)
	}
	job.Start, job.Files = nil, nil
	relay.release()
	if err := relay.run(); err != nil {
		return err
	}
	report := Report{End: relay.end, Ahead: relay.ahead == lineComplete, Huge: relay.huge, Kept: relay.kept}
	result := frames.Result{DiskFull: relay.Full()}
	// The processes of the program are dead or being killed. If the program reported an exit code, that code counts and
	// not the wait status. This is safe, because a program can choose its exit code anyway.
	if relay.code != nil {
		code := int(*relay.code)
		result.ExitCode = &code
	} else {
		addStatus(&result, relay.Status())
	}
	if job.Result != "" {
		<-relay.Dead() // as long as a process lives, it could replace the file while the file is read
		var err error
		if report.File, err = sendFile(relay.out, relay.Work(), job.Result, job.Largest); err != nil {
			return err
		}
	}
	stats, err := JSON(report)
	if err != nil {
		return err
	}
	result.Stats = stats
	return relay.out.WriteJSON(frames.Done, result)
}

// addStatus sets the exit code or the signal of a result.
func addStatus(result *frames.Result, status syscall.WaitStatus) {
	if !status.Signaled() {
		code := status.ExitStatus()
		result.ExitCode = &code
		return
	}
	result.Signal = int(status.Signal())
	result.DiskFull = result.DiskFull || status.Signal() == syscall.SIGXFSZ
}

// await reads the second Job frame of a program that was started in advance. If the program dies before that frame,
// await returns an error and closes the connection. The job did not cause the death, and no job may be sent to this
// child.
func (r *relay) await(in *frames.Reader, conn io.Closer) (Job, error) {
	come, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-r.Dead():
			_ = conn.Close() // the goroutine that reads the job gets an error
		case <-come:
		}
	}()
	job, err := r.readJob(in)
	close(come)
	<-over
	return job, err
}

// Memory for jobs. A launcher reads jobs of many children at the same time. Each job is in memory several times: as
// text, decoded, and as files.
const (
	smallJob    = 1 << 20 // jobs below this size do not wait
	copiesOfJob = 4
)

// jobs limits the memory that large jobs use in this process. A job's memory is released when the program's files and
// start message have been written. A program cannot delay that.
var jobs = semaphore.NewWeighted(wire.JobMemory)

// admit waits until the memory for the next job is free.
func (r *relay) admit() error {
	size, err := frames.NextSize(r.buffered)
	if err != nil || size <= smallJob {
		return err
	}
	weight := min(size*copiesOfJob, wire.JobMemory)
	if err := jobs.Acquire(context.Background(), weight); err != nil {
		return err
	}
	r.release = sync.OnceFunc(func() { jobs.Release(weight) })
	return nil
}

func (r *relay) readJob(in *frames.Reader) (Job, error) {
	if err := r.admit(); err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	kind, payload, err := in.Read()
	if err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	if kind != frames.Job {
		return Job{}, fmt.Errorf("read job: unexpected frame %q", byte(kind))
	}
	document, start := frames.SplitTail(payload)
	var job Job
	if err := json.Unmarshal(document, &job); err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	job.Start = bytes.Clone(start) // a copy, because the reader reuses the memory of the frame
	return job, nil
}

// refuse ends a job whose program cannot start because of the job itself. It sends reason as the program's error.
func refuse(out *frames.Writer, reason runtimes.ErrorType) error {
	if err := out.Write(frames.Started, nil); err != nil {
		return err
	}
	return out.WriteJSON(frames.Done, frames.Result{Error: &runtimes.ProgramError{Type: reason}})
}

// answer forwards the server's replies to the program until the connection ends. Then it kills the program, because the
// server no longer needs it.
func answer(in *frames.Reader, relay *relay) {
	for {
		kind, payload, err := in.Read()
		if err != nil {
			relay.Kill()
			return
		}
		if kind == frames.Reply { // ignores an interrupt, because the server kills the program after the grace period
			relay.channel.line(payload)
		}
	}
}
