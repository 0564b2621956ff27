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

// maxTasks is the absolute limit of tasks in a jail: the highest configurable limit plus the jail's own threads. The
// control group counts exactly. This limit is a second barrier, and the only one without control groups.
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

// discard ends a jail that was set up but cannot be used, and adds to the reason whether its process was killed meanwhile.
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

// disconnected reports whether an error says that the process at the other end of a connection is ending. Its connections
// close before its parent notices the end.
func disconnected(err error) bool {
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, net.ErrClosed)
}

// configure makes all decisions for the jailed side.
func (s *Sandbox) configure(profile Profile) (wire.Setup, error) {
	code, ok := s.filters[profile.Filter]
	if !ok {
		return wire.Setup{}, fmt.Errorf("no filter %q", profile.Filter)
	}
	if profile.Network && (profile.Launcher == "" || profile.Forks != nil) {
		return wire.Setup{}, errors.New("a network is for programs that a launcher executes")
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

// perJailTasks is the first kernel version that counts processes of a user per user namespace. In older kernels, all
// jails and the server would share one count.
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

// enter takes an id and a group, starts process 1 and moves it into the group before it does anything.
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

// leastOOMScore is the score by which the kernel prefers the processes of jails when memory runs out, so that the server
// and its other runs survive.
const leastOOMScore = 500

// jailScore returns the score of jails for a server with its own score, as the kernel writes it. A jail is never below the
// server, whose score may be higher in a container.
func jailScore(own []byte) string {
	n, _ := strconv.Atoi(strings.TrimSpace(string(own))) // 0 if it is unknown
	return strconv.Itoa(max(n, leastOOMScore))
}

// readJailScore reads the server's own score once, because it does not change.
var readJailScore = sync.OnceValue(func() string {
	own, _ := os.ReadFile("/proc/self/oom_score_adj")
	return jailScore(own)
})

// raiseOOMScore raises the score of process 1, which every process of the jail inherits.
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
	if !stop() { // the deadline is set or about to be
		return ctx.Err()
	}
	return nil
}

// socketPair makes the connection to a jail. The server's end uses the Go poller, the jail's end is a file to inherit.
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
