package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// maxTasks is an absolute limit of processes and threads in a jail: the highest configurable limit plus the jail's own
// threads. It is set as RLIMIT_NPROC. The limit of the control group is lower and exact. Without control groups only
// maxTasks applies.
const maxTasks = 1024

func (s *Sandbox) prepare(ctx context.Context, profile Profile) (*Jail, error) {
	if profile.Launcher != "" {
		return s.prepareChild(ctx, profile)
	}
	config, err := s.configure(profile)
	if err != nil {
		return nil, err
	}
	return s.launch(ctx, profile, config)
}

// launch starts a jail whose process 1 is a child of the server.
func (s *Sandbox) launch(ctx context.Context, profile Profile, config wire.Setup) (*Jail, error) {
	if err := s.simulateMissing(); err != nil {
		return nil, err
	}
	j, err := s.start(profile.Role, config)
	if err != nil {
		return nil, err
	}
	j.disk = config.Disk
	if err := j.handshake(ctx, config); err != nil {
		j.Kill()
		exit := j.Wait()
		if exit.Code == wire.ExitCgo {
			return nil, wire.ErrCgo
		}
		if exit.Signal == int(unix.SIGKILL) {
			err = errors.Join(errKilled, err)
		}
		return nil, fmt.Errorf("%w (code %d, signal %d): %s", err, exit.Code, exit.Signal, exit.Stderr)
	}
	j.markBase()
	if err := j.Limit(profile.Limits); err != nil {
		return nil, j.discard(err)
	}
	return j, nil
}

// discard ends a jail that cannot be used. If the process was killed meanwhile, discard adds errKilled to the error.
func (j *Jail) discard(err error) error {
	killed := disconnected(err)
	select {
	case <-j.ended:
		killed = true
	default:
	}
	j.Kill()
	j.Wait()
	if killed {
		return errors.Join(errKilled, err)
	}
	return err
}

// disconnected reports whether an error means that the process at the other end of a connection is ending. The kernel
// closes the connections of a process before its parent notices the end.
func disconnected(err error) bool {
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, net.ErrClosed)
}

// configure converts a profile into the set-up that process 1 of the jail applies.
func (s *Sandbox) configure(profile Profile) (wire.Setup, error) {
	code, ok := s.filters[profile.Filter]
	if !ok {
		return wire.Setup{}, fmt.Errorf("unknown filter %q", profile.Filter)
	}
	if profile.Network && (profile.Launcher == "" || profile.Forks != nil) {
		return wire.Setup{}, errors.New("only a profile with a launcher and without a fork server can have a network")
	}
	config := wire.Setup{Filter: profile.Filter, Landlock: s.landlock, Tasks: unix.RLIM_INFINITY}
	if !s.weakSeccomp {
		config.Seccomp = code
	}
	if kernel() >= perJailTasks {
		config.Tasks = maxTasks
	}
	if profile.Filter.Ours() {
		return config, nil
	}
	users := 1
	if profile.Launcher != "" {
		config.Launcher, config.Network, config.Forks = true, profile.Network, profile.Forks
		if profile.Forks != nil && !s.weakSeccomp {
			config.Halves = s.halves[profile.Filter]
		}
		config.Users = s.ids.many(hostID{}).users
		config.Groups = s.groups.Descriptors()
		users = config.Users
	}
	config.Mounts, config.Links, config.Files, config.Devices = hostView(profile.Mounts, users)
	var err error
	if config.Hidden, err = s.hidden(config.Mounts); err != nil {
		return wire.Setup{}, err
	}
	config.Execute = profile.Executables
	config.Proc = profile.Proc && !s.noProc
	if !config.Launcher {
		config.Disk = diskOf(profile)
	}
	return config, nil
}

// diskOf returns the size of a jail's private disk.
func diskOf(profile Profile) int64 {
	if profile.DiskBytes == 0 {
		return max(profile.Limits.DiskBytes, 1<<12)
	}
	return max(profile.DiskBytes, 1<<12)
}

// perJailTasks is the first kernel version that counts the processes of a user per user namespace. In older kernels, all
// jails and the server share one count, so no limit is set.
const perJailTasks = 5_014

// start runs process 1 in its group. Process 1 then waits for the set-up.
func (s *Sandbox) start(role string, config wire.Setup) (*Jail, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	defer writer.Close()
	j := &Jail{sandbox: s, conn: ours, filter: config.Filter, ended: make(chan struct{}), gone: make(chan struct{})}
	if err := j.enter(role, config, theirs, writer); err != nil {
		return nil, errors.Join(err, ours.Close(), reader.Close())
	}
	go j.attend(reader)
	return j, nil
}

// enter acquires a user id and a control group, starts process 1 and moves it into the group. Process 1 waits until
// this is done.
func (j *Jail) enter(role string, config wire.Setup, theirs, stderr *os.File) (err error) {
	s := j.sandbox
	if err := s.begin(); err != nil {
		return err
	}
	defer s.starting.Done()
	if j.id, err = s.ids.acquire(); err != nil {
		return err
	}
	if j.group, err = s.groups.New(); err != nil {
		s.ids.release(j.id)
		return err
	}
	j.who = s.ids.single(j.id)
	if config.Launcher {
		j.who = s.ids.many(j.id)
		j.who.network = config.Network
	}
	if j.process, err = s.spawner.start(s.exe, role, j.who, theirs, stderr); err != nil {
		return errors.Join(fmt.Errorf("start process 1 of the jail: %w", err), j.release())
	}
	s.raiseOOMScore(j.process.Pid)
	if j.group == nil {
		j.watch = newWatch(j.process.Pid, !config.Launcher, j.Kill)
	} else if err := j.group.Join(j.process.Pid); err != nil {
		if errors.Is(err, unix.ESRCH) {
			err = errors.Join(errKilled, err)
		}
		j.Kill()
		_, _ = j.process.Wait()
		return errors.Join(err, j.release())
	}
	s.add(j)
	return nil
}

// leastOOMScore is the lowest oom_score_adj of a jail. If the host runs out of memory, the kernel kills processes with a
// high score first, so the server survives.
const leastOOMScore = 500

// jailScore returns the oom_score_adj of jails. own is the server's oom_score_adj, as read from /proc. A jail's score is
// never lower than the server's, which may be high in a container.
func jailScore(own []byte) string {
	n, _ := strconv.Atoi(strings.TrimSpace(string(own))) // n is 0 if the score is unknown
	return strconv.Itoa(max(n, leastOOMScore))
}

// readJailScore reads the server's own score once, because it does not change.
var readJailScore = sync.OnceValue(func() string {
	own, _ := os.ReadFile("/proc/self/oom_score_adj")
	return jailScore(own)
})

// raiseOOMScore raises the oom_score_adj of process 1. Every process of the jail inherits it.
func (s *Sandbox) raiseOOMScore(pid int) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(readJailScore()), 0); err != nil {
		s.log.LogAttrs(context.Background(), slog.LevelDebug, "raise the score of a jail for lack of memory", slog.Any("error", err))
	}
}

// handshake sends the set-up and waits until the jail is ready.
func (j *Jail) handshake(ctx context.Context, config wire.Setup) error {
	ctx, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	var once sync.Once
	interrupt := func() { once.Do(func() { _ = j.conn.SetDeadline(time.Unix(1, 0)) }) }
	stop := context.AfterFunc(ctx, interrupt)
	defer stop()
	if err := frames.NewWriter(j.conn).WriteJSON(frames.Setup, config); err != nil {
		return errors.Join(fmt.Errorf("send the set-up: %w", err), ctx.Err())
	}
	if _, _, err := frames.NewReader(j.conn, map[frames.Kind]int{frames.Ready: 1 << 10}).Read(); err != nil {
		return errors.Join(fmt.Errorf("wait for the jail: %w", err), ctx.Err())
	}
	if !stop() { // ctx has ended, so the deadline of the connection is set or will be set
		return ctx.Err()
	}
	return nil
}

// socketPair creates the connection to a jail. The server's end uses the Go poller. The jail's end is a file that
// process 1 inherits.
func socketPair() (net.Conn, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make the frame socket: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "jail")
	file := os.NewFile(uintptr(pair[0]), "server")
	defer file.Close()
	ours, err := net.FileConn(file)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the frame socket: %w", err), theirs.Close())
	}
	return ours, theirs, nil
}
