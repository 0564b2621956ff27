// Package sandbox provides jails. A jail is a process of our own binary that is isolated by namespaces, a private root,
// seccomp, landlock and control groups. The package also measures and kills the processes in jails. It handles roles and
// limits, and is independent of programming languages.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
	"github.com/atelier-run/atelier/runtimes/sandbox/child"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Options configure a Sandbox. The zero value selects the defaults of a server.
type Options struct {
	Exe       string // path of the server's binary; default: the running binary
	UIDBase   int    // only if the server is root: first host uid and gid of jails, one per live jail; default 200000
	UIDCount  int    // number of host users for jails; default 512
	Log       *slog.Logger
	AllowWeak []string // required mechanisms that may be missing; each must be in Weakenable
	// Mechanisms that are not used, to test the behaviour on hosts that lack them; each must be in Removable.
	Without []string
}

const (
	defaultUIDBase  = 200_000
	defaultUIDCount = 512
	oldestKernel    = 5_012 // oldest kernel with mount_setattr
)

// Sandbox prepares jails. Its methods may be called from any goroutine.
type Sandbox struct {
	options     Options
	exe         *os.File
	ids         *ids
	groups      *cgroups.Tree
	spawner     *spawner
	filters     map[Filter][]byte
	halves      map[Filter]wire.Halves // compiled filters of fork servers
	landlock    int
	noProc      bool
	weakSeccomp bool
	level       Level
	log         *slog.Logger

	launchers launchers
	private   privatePaths
	starting  sync.WaitGroup
	mu        sync.Mutex
	closed    bool
	jails     map[*Jail]struct{}
}

// New sets up a test jail to find out which mechanisms the host can enforce. It also removes the control groups that a
// killed server left behind. If the host cannot set up any jail, New still succeeds, but the level is LevelNone and
// every Prepare fails.
func New(ctx context.Context, options Options) (*Sandbox, error) {
	if options.Exe == "" {
		options.Exe = "/proc/self/exe"
	}
	if options.UIDBase <= 0 {
		options.UIDBase = defaultUIDBase
	}
	if options.UIDCount <= 0 {
		options.UIDCount = defaultUIDCount
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	if err := errors.Join(checkNames(options.AllowWeak, Weakenable(), "may be missing"), checkNames(options.Without, Removable(), "can be masked")); err != nil {
		return nil, err
	}
	exe, err := os.OpenFile(options.Exe, unix.O_PATH, 0)
	if err != nil {
		return nil, fmt.Errorf("open the binary for jails: %w", err)
	}
	groups := cgroups.Unusable()
	if !options.doesWithout(Cgroups) {
		groups, err = cgroups.Open()
	}
	if err != nil {
		return nil, errors.Join(err, exe.Close())
	}
	s := &Sandbox{
		options: options, exe: exe, ids: newIDs(options.UIDBase, options.UIDCount), groups: groups, spawner: newSpawner(), filters: map[Filter][]byte{},
		halves:   map[Filter]wire.Halves{},
		landlock: child.LandlockVersion(), log: options.Log, jails: map[*Jail]struct{}{},
		launchers: launchers{named: map[string]*launcher{}, making: map[string]chan struct{}{}},
		private:   privatePaths{found: map[Mount][]string{}},
	}
	if options.doesWithout(Landlock) {
		s.landlock = 0
	}
	for filter, policy := range policies(groups.Mode()) {
		if s.filters[filter], err = seccomp.Encode(policy); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		if s.halves[filter], err = wire.CompileHalves(policy); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.level = s.judge(s.probe(ctx))
	severity := slog.LevelInfo
	if s.level.Level == LevelNone || len(s.level.Weak()) > 0 {
		severity = slog.LevelWarn
	}
	s.log.LogAttrs(ctx, severity, "sandbox", slog.String("level", s.level.Level), slog.String("cgroups", string(groups.Mode())),
		slog.Int("landlock", s.landlock), slog.Any("missing", s.level.Missing))
	return s, nil
}

// probe tests which kind of jail this host supports.
func (s *Sandbox) probe(ctx context.Context) error {
	if version := kernel(); version < oldestKernel {
		return fmt.Errorf("this kernel is Linux %d.%d; 5.12 or later is required", version/1000, version%1000)
	}
	return s.chooseMechanisms(func() error {
		profile := Profile{
			Role: wire.ProbeRole, Filter: FilterProgram, Mounts: []Mount{{Host: "/usr", Path: "/usr"}},
			Limits: runtimes.DefaultLimits(), Proc: true,
		}
		j, err := s.prepare(ctx, profile)
		if err != nil {
			return err
		}
		j.Kill()
		j.Wait()
		return nil
	})
}

// Level returns the level of isolation that this host can enforce.
func (s *Sandbox) Level() Level {
	return Level{Level: s.level.Level, Missing: slices.Clone(s.level.Missing), Lacks: slices.Clone(s.level.Lacks)}
}

// Prepare starts a jail and returns it when it is set up and its role waits for a job. Its errors have the code
// sandbox_unavailable: the server failed, not the caller. The jail outlives ctx.
func (s *Sandbox) Prepare(ctx context.Context, profile Profile) (*Jail, error) {
	if s.level.Level == LevelNone {
		return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: s.level.Missing[0]}
	}
	for attempt := 1; ; attempt++ {
		j, err := s.prepare(ctx, profile)
		if err == nil {
			return j, nil
		}
		if attempt == setupAttempts || !errors.Is(err, errKilled) || ctx.Err() != nil || s.isClosed() {
			return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: "The sandbox could not be set up.", Err: err}
		}
	}
}

// Close kills every jail, waits for their end and removes the control groups and other resources of the sandbox.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.starting.Wait()
	s.mu.Lock()
	jails := slices.Collect(maps.Keys(s.jails))
	s.mu.Unlock()
	for _, j := range jails {
		j.Kill()
	}
	for _, j := range jails {
		j.Wait()
	}
	s.spawner.close()
	return errors.Join(s.groups.Close(), s.exe.Close())
}

// setupAttempts is the maximum number of attempts to set up a jail. Another attempt is made if the jail's process or
// its launcher is killed during the set-up. This is safe, because no program has begun.
const setupAttempts = 3

// errKilled is part of the error if the process was killed during its set-up.
var errKilled = errors.New("the process was killed")

// setupTime is the timeout of a set-up. It is long enough for a very busy machine.
const setupTime = 20 * time.Second
