package program

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// Name is the role's name.
const Name = "program"

// Role returns the role for sandbox.Main.
func Role() sandbox.Role {
	return sandbox.Role{Name: Name, Filter: sandbox.FilterProgram, Serve: Serve}
}

// Serve runs one job. It must be process 1 of its own process namespace: when the program ends it kills everything that
// it can see.
func Serve(conn net.Conn) error {
	if os.Getpid() != 1 {
		return errors.New("program: not process 1 of a jail")
	}
	syscall.Umask(0o077)
	in := frames.NewReader(bufio.NewReader(conn), map[frames.Kind]int{frames.Job: frames.MaxFrame, frames.Reply: frames.MaxFrame, frames.Interrupt: 1 << 10})
	out := frames.NewWriter(conn)

	job, err := readJob(in)
	if err != nil {
		return err
	}
	var c *child
	if job.Ahead {
		if c, err = start(job, nil); err != nil {
			return err
		}
		if job, err = c.await(in, out); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(sandbox.WorkDir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := write(root, job.Files); errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return refuse(out, runtimes.DiskLimit)
	} else if err != nil {
		return err
	}
	if c == nil {
		if c, err = start(job, root); err != nil {
			return err
		}
	}
	return carryOut(job, c, root, in, out)
}

// carryOut sees a started program through.
func carryOut(job Job, c *child, root *os.Root, in *frames.Reader, out *frames.Writer) error {
	if err := c.limit(job.Rlimits); err != nil {
		return err
	}
	relay := relay{child: c, out: out, largest: int(job.Largest), started: job.Hello == nil}
	if relay.started {
		if err := out.Write(frames.Started, nil); err != nil {
			return err
		}
	}
	go answer(in, c.channel) // ends with the connection or the process
	if job.Hello != nil {
		c.channel.line(job.Hello)
	}
	if err := relay.run(c.death.fd); err != nil {
		return err
	}
	status := c.death.wait()
	report := Report{End: relay.end, Huge: relay.huge}
	result := frames.Result{DiskFull: full(sandbox.WorkDir) || status.Signal() == syscall.SIGXFSZ}
	if status.Signaled() {
		result.Signal = int(status.Signal())
	} else {
		code := status.ExitStatus()
		result.ExitCode = &code
	}
	if job.Result != "" {
		result.Output, report.File, report.Flaw = read(root, job.Result, job.Largest)
	}
	stats, err := json.Marshal(report)
	if err != nil {
		return err
	}
	result.Stats = stats
	return out.WriteJSON(frames.Done, result)
}

// await tells the server when a program that was started ahead of its job is ready for it, and reads the job. A program
// that does not live to see it takes the jail along: that is never the job's fault, and no job must get this jail.
func (c *child) await(in *frames.Reader, out *frames.Writer) (Job, error) {
	relay := relay{child: c, out: out}
	if err := relay.untilReady(); err != nil {
		return Job{}, err
	}
	if err := out.Write(frames.Ready, nil); err != nil {
		return Job{}, err
	}
	var mu sync.Mutex
	waiting := true
	go func() { // ends with the program, at the latest with the process
		c.death.wait()
		mu.Lock()
		defer mu.Unlock()
		if waiting {
			fmt.Fprintln(os.Stderr, relay.early())
			os.Exit(1)
		}
	}()
	job, err := readJob(in)
	mu.Lock()
	waiting = false
	mu.Unlock()
	return job, err
}

func readJob(in *frames.Reader) (Job, error) {
	kind, payload, err := in.Read()
	if err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	if kind != frames.Job {
		return Job{}, fmt.Errorf("read job: frame %q instead", byte(kind))
	}
	var job Job
	if err := json.Unmarshal(payload, &job); err != nil {
		return Job{}, fmt.Errorf("read job: %w", err)
	}
	return job, nil
}

// refuse ends a job whose program cannot even begin, for a reason that is its own.
func refuse(out *frames.Writer, reason runtimes.ErrorType) error {
	if err := out.Write(frames.Started, nil); err != nil {
		return err
	}
	return out.WriteJSON(frames.Done, frames.Result{Error: &runtimes.ProgramError{Type: reason}})
}

// answer hands the server's replies to the program, until the connection ends. A server that is gone has closed it; then
// the jail ends, and the program with it.
func answer(in *frames.Reader, to *channel) {
	for {
		kind, payload, err := in.Read()
		if err != nil {
			os.Exit(1)
		}
		if kind == frames.Reply {
			to.line(payload)
		}
	}
}
