// Package packages installs the packages that programs import. It resolves a list of names and versions to a lock,
// downloads the archives of the lock, checks their hashes, and unpacks them into a folder that is mounted read-only into
// runs. Resolvers and archives are not trusted: resolving and unpacking run in jails. A resolver can only reach the
// package index, and unpacking has no network. This package does not depend on agents or the database.
package packages

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/internal/lru"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Options configures a Manager.
type Options struct {
	Jailer worker.Jailer
	Egress *egress.Proxy // egress proxy, which checks the addresses of indexes
	Dir    string        // folder for archives and unpacked locks; it is created when it is first needed
	Python string        // absolute path of python3; "" for none
	UV     string        // absolute path of uv; "" for none
	Node   string        // absolute path of node; "" for none
	NPM    string        // absolute path of npm's program, npm-cli.js; "" for none
	// Indexes are the addresses of the package indexes. An ecosystem without an index has no packages.
	Indexes map[runtimes.Ecosystem]string
	// Builds names the workspaces whose packages may run their own code while they are resolved and installed: builds from
	// source and install scripts.
	Builds  []string
	Hosts   []string // further hosts (host:port) from which the indexes send archives
	Bytes   int64    // maximum size of one unpacked lock; default 1 GiB
	Quota   int64    // maximum size of all unpacked locks of a workspace; default 20 GiB
	Archive int64    // maximum size of one archive; default 512 MiB
	// Stall is the maximum time that a download waits for the next bytes, default 30 s. Download is the maximum duration of
	// a download, default 15 minutes.
	Stall, Download time.Duration
	Now             func() time.Time
	Log             *slog.Logger
}

// Limits of the jails in which packages are resolved and unpacked.
const (
	defaultBytes   = 1 << 30
	defaultQuota   = 20 << 30
	defaultArchive = 512 << 20
	stallTime      = 30 * time.Second
	downloadTime   = 15 * time.Minute
	resolveTime    = 90 * time.Second
	unpackTime     = 10 * time.Minute
	jailMemory     = 1 << 30
	jailDisk       = 256 << 20
	scriptsDisk    = 512 << 20 // for jails with install scripts, whose disk also contains all unpacked packages
	jailProcesses  = 128
	maxAnswer      = 8 << 20
)

// Manager resolves, installs and removes packages. It is safe for concurrent use.
type Manager struct {
	options Options
	python  program.Interpreter
	node    program.Interpreter
	lacks   map[runtimes.Ecosystem]string
	grants  []string
	made    atomic.Int64  // number of launchers started so far; used in their names
	places  chan struct{} // semaphore for concurrent installations and resolutions
	// builders is the semaphore for workspaces whose packages may run their own code. It is separate, because such code
	// can run as long as it likes.
	builders chan struct{}

	listing chan struct{} // semaphore for concurrent reads of index answers

	ctx    context.Context // ends when the manager closes
	stop   context.CancelFunc
	joined sync.WaitGroup

	sourcesOf Sources // nil if no workspace has a source of its own

	kept *lru.Cache[string, map[string]string] // source texts of npm packages

	copying sync.Mutex // allows one copy of a resolver at a time

	mu     sync.Mutex
	opened bool
	// temporary is the folder of this process for unfinished work, and held is the locked file of this folder.
	temporary string
	held      *os.File
	installs  map[string]*install // installations in progress; key: folder of the lock
	inUse     map[string]int      // number of users; key: folder of the lock
}

// New returns a manager. The caller must close it.
func New(o Options) *Manager {
	if o.Bytes <= 0 {
		o.Bytes = defaultBytes
	}
	if o.Quota <= 0 {
		o.Quota = defaultQuota
	}
	if o.Archive <= 0 {
		o.Archive = defaultArchive
	}
	if o.Stall <= 0 {
		o.Stall = stallTime
	}
	if o.Download <= 0 {
		o.Download = downloadTime
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Egress == nil {
		o.Egress = egress.New(egress.Options{})
	}
	m := &Manager{options: o, places: make(chan struct{}, mostAtOnce), builders: make(chan struct{}, mostAtOnce), listing: make(chan struct{}, listings), lacks: map[runtimes.Ecosystem]string{}, installs: map[string]*install{}, inUse: map[string]int{}}
	m.kept = lru.New[string, map[string]string](keptSources, keptSourceBytes)
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.lacks[runtimes.PyPI] = m.findPython()
	m.lacks[runtimes.NPM] = m.findNPM()
	m.grants = slices.Clone(o.Hosts)
	for _, index := range o.Indexes {
		if host := hostOf(index); host != "" {
			m.grants = append(m.grants, host)
		}
	}
	return m
}

// findPython finds the interpreter for Python packages. If something is missing, it returns an explanation, otherwise
// "".
func (m *Manager) findPython() string {
	python, err := program.FindInterpreter(m.options.Python)
	switch {
	case err != nil:
		return "No Python interpreter was found for packages. Install it in /usr/bin or set its path with --python."
	case m.options.Indexes[runtimes.PyPI] == "":
		return "This server has no index for Python packages. Set its address with --python-index."
	case m.options.UV == "":
		return "The resolver uv was not found. Install it with `pip install uv` in /usr/local/bin, or set its path with --uv."
	}
	m.python = python
	return ""
}

// findNPM finds the interpreter for npm packages. If something is missing, it returns an explanation, otherwise "".
func (m *Manager) findNPM() string {
	node, err := program.FindInterpreter(m.options.Node)
	switch {
	case err != nil:
		return "No Node was found for npm packages. Install it in /usr/bin or set its path with --node."
	case m.options.Indexes[runtimes.NPM] == "":
		return "This server has no registry for npm packages. Set its address with --npm-registry."
	case m.options.NPM == "":
		return "npm was not found. Install it with Node, or set the path of its npm-cli.js with --npm."
	}
	m.node = node
	return ""
}

// hostOf returns the host and port of an index in the form of a grant, host:port. It returns "" if the address is not
// valid.
func hostOf(index string) string {
	address, err := url.Parse(index)
	if err != nil || address.Hostname() == "" {
		return ""
	}
	port := address.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[address.Scheme]
	}
	return net.JoinHostPort(address.Hostname(), port)
}

// Lacks returns an explanation if this server installs no packages of an ecosystem, with advice on how to change that.
// It returns "" if the server installs such packages.
func (m *Manager) Lacks(ecosystem runtimes.Ecosystem) string {
	if missing, ok := m.lacks[ecosystem]; ok {
		return missing
	}
	return "Programs in this language cannot use packages."
}

// mostAtOnce is the maximum number of concurrent installations and resolutions. It is limited because each needs a jail
// and downloads. The limit applies separately to workspaces that allow builds and to all other workspaces.
const mostAtOnce = 4

// enter waits until an installation or resolution of a workspace may start. The caller must call leave when the work is
// done.
func (m *Manager) enter(ctx context.Context, workspace string) (leave func(), err error) {
	places := m.places
	if m.builds(workspace) {
		places = m.builders
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close cancels all installations and waits until they have ended.
func (m *Manager) Close() {
	m.stop()
	m.joined.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held != nil {
		_ = os.RemoveAll(m.temporary) // after an error, the next process removes the remaining files
		_ = m.held.Close()
		m.opened, m.held = false, nil
	}
}

// limits returns the limits of a jail for one step.
func (m *Manager) limits(timeout time.Duration) runtimes.Limits {
	limits := runtimes.DefaultLimits()
	limits.TimeoutMs, limits.CPUMs = timeout.Milliseconds(), timeout.Milliseconds()
	limits.MemoryBytes, limits.DiskBytes, limits.Processes = jailMemory, jailDisk, jailProcesses
	limits.OutputBytes = maxAnswer
	return limits
}

// step is a script that runs in its own jail.
type step struct {
	name    string
	script  string
	node    bool // true for a script of Node, false for a script of Python
	request any
	mounts  []sandbox.Mount
	env     []string
	limits  runtimes.Limits
	network bool
	result  string // name of the file that the script writes; "" if it writes none
	tap     func([]byte)
}

// interpreter returns the mounts and the command line of the interpreter that runs a step.
func (m *Manager) interpreter(s step) ([]sandbox.Mount, []string) {
	if s.node {
		heap := "--max-old-space-size=" + strconv.FormatInt(s.limits.MemoryBytes*3/4>>20, 10)
		return m.node.Mounts, []string{m.node.Path, heap, "-e", s.script}
	}
	return m.python.Mounts, []string{m.python.Path, "-I", "-S", "-B", "-X", "utf8", "-c", s.script}
}

// run runs the script of a step in a new jail and returns the content of its result file.
func (m *Manager) run(ctx context.Context, s step) (json.RawMessage, runtimes.Outcome, error) {
	request, err := json.Marshal(s.request)
	if err != nil {
		return nil, runtimes.Outcome{}, err
	}
	mounts, argv := m.interpreter(s)
	profile := sandbox.Profile{
		Role: program.Name, Filter: sandbox.FilterInstaller, Proc: true, Mounts: slices.Concat(mounts, s.mounts),
		Launcher: "packages " + s.name + " " + strconv.FormatInt(m.made.Add(1), 10), DiskBytes: s.limits.DiskBytes, Limits: s.limits, Network: s.network,
	}
	pool := worker.NewPool(worker.Options{Jailer: m.options.Jailer, Max: 1, Log: m.options.Log, Profile: profile})
	defer pool.Close()
	job := runtimes.Job{Limits: s.limits}
	var session *egress.Session
	if s.network {
		session = m.session(ctx, job)
	} else {
		session = m.options.Egress.OpenBeneath(hostpattern.Ceiling{}, job, quiet{})
	}
	defer session.Close()
	rlimits := program.LimitsOf(s.limits, 0)
	rlimits.Sockets = 0 // the limit OpenFiles applies, because a resolver downloads many files at once
	var found json.RawMessage
	task := worker.Task{
		Job: job,
		Payload: program.Job{
			Argv: argv, Env: append(program.Environment(), s.env...),
			Files: map[string][]byte{"request.json": request}, Result: s.result, Largest: maxAnswer, Rlimits: rlimits,
		},
		Interpret: func(result frames.Result) frames.Result {
			if report, err := program.ReadReport(result); err == nil {
				found, _, _ = program.ReadFile(result, report, maxAnswer)
			}
			return result
		},
	}
	if s.tap != nil {
		task.Tap = func(kind frames.Kind, p []byte) {
			if kind == frames.Stdout {
				s.tap(p)
			}
		}
	}
	if s.network {
		task.Network = func(listener net.Listener) func() {
			session.Serve(listener)
			return session.Close
		}
	}
	outcome, err := pool.Run(ctx, task, session)
	return found, outcome, err
}

// session opens an egress session to the indexes and to the hosts that send the indexes' archives. An index that the
// operator configures may have a private address. So the session also grants the current addresses of these hosts.
func (m *Manager) session(ctx context.Context, job runtimes.Job) *egress.Session {
	ceiling, hosts := hostpattern.Ceiling{All: true}, slices.Clone(m.grants)
	for _, host := range m.grants {
		name, port, err := net.SplitHostPort(host)
		if err != nil {
			continue
		}
		addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		if err != nil {
			continue // if the name cannot be resolved, the request to this host fails later
		}
		for _, address := range addresses {
			if class := hostpattern.Class(address.Unmap()); class != "" && class != hostpattern.Metadata {
				hosts = append(hosts, net.JoinHostPort(address.Unmap().String(), port))
			}
		}
	}
	for _, host := range hosts {
		if grant, err := hostpattern.ParseGrant(host); err == nil {
			ceiling.Grants = append(ceiling.Grants, grant)
		}
	}
	job.Capabilities.Hosts = hosts
	return m.options.Egress.OpenBeneath(ceiling, job, quiet{})
}

// quiet is a runtimes.Host that discards the output of a step.
type quiet struct{}

func (quiet) Emit(runtimes.Event) {}

func (quiet) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtimes.CallError{Code: "denied", Message: "Host calls are not available while packages are resolved or installed."}
}

// unavailable returns the error for an ecosystem of which this server cannot install packages.
func unavailable(why string) error { return fault.New(fault.RuntimeUnavailable, "%s", why) }

// Problem is the reason why packages cannot be resolved or installed. If the reason is about one package, Package is
// its name, and Message is a predicate that follows the name.
type Problem struct {
	Code    string // not_found, conflict, no_wheel, build, hash_mismatch, too_large, damaged, refused, index
	Package string
	Named   []string // for a conflict: those names of the list that the resolver's explanation mentions
	Message string
	Remedy  string
}

func (p *Problem) Error() string {
	if p.Package == "" {
		return p.Message
	}
	return fmt.Sprintf("%s %s", p.Package, p.Message)
}

// folder returns a safe folder name for a workspace. The name of a workspace may contain any characters.
func folder(workspace string) string {
	return filepath.Base(filepath.Clean("/" + url.PathEscape(workspace)))
}
