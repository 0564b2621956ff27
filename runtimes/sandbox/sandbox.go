// Package sandbox is the jail: it starts copies of our own binary behind namespaces, a private root, seccomp, landlock
// and control groups, and counts and kills what runs in them. It knows roles and limits, no language.
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
)

// Options of a Sandbox; the zero value is fine for a server.
type Options struct {
	Exe       string // our binary; default the running one
	UIDBase   int    // as root: host uids and gids of jails, one per live jail; default 200000
	UIDCount  int    // default 512
	Log       *slog.Logger
	AllowWeak []string // names of required mechanisms that may be missing: WeakSeccomp
}

const (
	defaultUIDBase  = 200_000
	defaultUIDCount = 512
	oldestKernel    = 5_012 // mount_setattr
)

// Sandbox prepares jails. Its methods may be called from any goroutine.
type Sandbox struct {
	exe         *os.File
	ids         *ids
	groups      *cgroups.Tree
	keeper      *keeper
	filters     map[Filter][]byte
	landlock    int
	noProc      bool
	weakSeccomp bool
	level       Level
	log         *slog.Logger

	starting sync.WaitGroup
	mu       sync.Mutex
	closed   bool
	jails    map[*Jail]struct{}
}

// New finds out what the host can enforce, by setting up a jail for real, and removes what a killed server left behind.
// It fails only if the house is broken; a host that cannot jail anything is a Level, and then every Prepare fails.
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
	exe, err := os.OpenFile(options.Exe, unix.O_PATH, 0)
	if err != nil {
		return nil, fmt.Errorf("open the binary for jails: %w", err)
	}
	groups, err := cgroups.Open()
	if err != nil {
		return nil, errors.Join(err, exe.Close())
	}
	s := &Sandbox{
		exe: exe, ids: newIDs(options.UIDBase, options.UIDCount), groups: groups, keeper: newKeeper(), filters: map[Filter][]byte{},
		landlock: landlockVersion(), log: options.Log, jails: map[*Jail]struct{}{},
	}
	for filter, policy := range policies(groups.Mode()) {
		if s.filters[filter], err = compileFilter(policy); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.level = s.judge(s.probe(ctx, options))
	s.log.LogAttrs(ctx, slog.LevelInfo, "sandbox", slog.String("level", s.level.Level), slog.String("cgroups", string(groups.Mode())),
		slog.Int("landlock", s.landlock), slog.Any("missing", s.level.Missing))
	return s, nil
}

// probe sets up a jail, and another without what may be missing if that fails.
func (s *Sandbox) probe(ctx context.Context, options Options) error {
	if version := kernel(); version < oldestKernel {
		return fmt.Errorf("Linux %d.%d is too old, 5.12 is the first that fits", version/1000, version%1000)
	}
	try := func() error {
		profile := Profile{
			Role: probeRole, Filter: FilterProgram, Mounts: []Mount{{Host: "/usr", Path: "/usr"}},
			Limits: runtimes.DefaultLimits(), Proc: true,
		}
		j, err := s.prepare(ctx, profile)
		if err != nil {
			return err
		}
		j.Kill()
		j.Wait()
		return nil
	}
	err := try()
	if err == nil {
		return nil
	}
	if s.noProc = true; try() == nil {
		return nil
	}
	s.noProc = false
	if slices.Contains(options.AllowWeak, WeakSeccomp) {
		if s.weakSeccomp = true; try() == nil {
			return nil
		}
		s.weakSeccomp = false
	}
	return err
}

// Level says what this host can enforce.
func (s *Sandbox) Level() Level {
	return Level{Level: s.level.Level, Missing: slices.Clone(s.level.Missing)}
}

// Prepare starts a jail and returns it when it is set up and its role waits for a job. An error means that the house
// failed and has the code sandbox_unavailable. The jail outlives ctx.
func (s *Sandbox) Prepare(ctx context.Context, profile Profile) (*Jail, error) {
	if s.level.Level == LevelNone {
		return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: s.level.Missing[0]}
	}
	j, err := s.prepare(ctx, profile)
	if err != nil {
		return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: "The sandbox could not be set up.", Err: err}
	}
	return j, nil
}

// Close kills every jail, waits for them and removes what the sandbox made on the host.
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
	s.keeper.close()
	return errors.Join(s.groups.Close(), s.exe.Close())
}

// setupTime bounds how long a jail may take until it is ready, on a machine that is very busy.
const setupTime = 20 * time.Second
