package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

// watchEvery is the interval between two measurements of a process tree that no control group counts.
const watchEvery = 20 * time.Millisecond

// ticksPerSecond is the unit of CPU time in /proc on every Linux that Go runs on.
const ticksPerSecond = 100

// watch measures a process tree at intervals. If the tree exceeds its limits, watch kills it. It is a weaker substitute
// for a control group: it measures every watchEvery, and misses events in between. If the sockets of a tree may contain
// more than its limit, the tree is stopped while it is measured. Otherwise many busy processes would delay the
// measurement and meanwhile fill their sockets.
type watch struct {
	pid int // process 1 of the jail; all other processes, including orphans, descend from it
	// Whether descendants count; the descendants of a launcher do not, because they are other jails and share its memory
	// until they begin.
	deep bool
	kill func()
	over chan struct{} // receives a value when a limit was exceeded; run then kills the tree
	stop chan struct{}
	done chan struct{}
	once sync.Once

	born         string // start time of process 1, which distinguishes it from a later process with the same ID
	socketMemory int64  // maximum memory that one socket can use

	looking sync.Mutex // locked while the tree is measured, and possibly stopped
	mu      sync.Mutex
	memory  int64 // limits; 0 if not set yet
	tasks   int64
	now     cgroups.Stats
}

func newWatch(pid int, deep bool, kill func()) *watch {
	w := &watch{pid: pid, deep: deep, kill: kill, socketMemory: socketMemory(), over: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	w.born, _ = startOf(pid)
	go w.run()
	return w
}

func (w *watch) limit(memory, tasks int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.memory, w.tasks = memory, tasks
}

func (w *watch) stats() cgroups.Stats {
	w.look()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *watch) resetPeak() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.Peak = 0
}

func (w *watch) close() {
	w.once.Do(func() { close(w.stop) })
	<-w.done
}

func (w *watch) run() {
	defer close(w.done)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			w.look()
		case <-w.over:
			w.kill()
		}
	}
}

// look measures the tree once. If the tree exceeds a limit, look notifies run, which kills it. Such a tree stays
// stopped until then.
func (w *watch) look() {
	w.looking.Lock()
	defer w.looking.Unlock()
	seen := sample{memory: resident, descriptors: maxDescriptors}
	w.count(&seen)
	if born, ok := startOf(w.pid); seen.Pids == 0 || !ok || born != w.born {
		return // the tree is dead, so the last values remain valid
	}
	broken := false
	w.mu.Lock()
	limit := w.memory
	w.mu.Unlock()
	// Measure again exactly, which takes longer: count shared memory and sockets only once.
	if limit > 0 && seen.Memory+seen.held*w.socketMemory > limit {
		if w.deep && seen.held*w.socketMemory > limit/2 {
			tree := stop(w.pid, w.born)
			defer func() {
				if !broken {
					tree.resume()
				}
				tree.close()
			}()
		}
		found := map[string]struct{}{}
		seen = sample{memory: proportional, descriptors: sockets(found)}
		w.count(&seen)
		seen.held = int64(len(found))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.CPU = max(w.now.CPU, seen.CPU)
	w.now.Memory, w.now.Pids = seen.Memory, seen.Pids
	w.now.Peak = max(w.now.Peak, seen.Memory)
	if w.memory > 0 && seen.Memory+seen.held*w.socketMemory > w.memory {
		w.now.OOMKills++
		w.now.LimitHits++
		broken = true
	}
	if w.tasks > 0 && seen.Pids > w.tasks {
		w.now.PidsHits++
		broken = true
	}
	if broken {
		select {
		case w.over <- struct{}{}:
		default: // a value is already there, so run is about to kill the tree
		}
	}
}

// stopped contains handles of the processes that the function stop has stopped.
type stopped []int

// maxPasses is the maximum number of times that stop searches for processes. Several are needed, because a process may
// start others before it is stopped.
const maxPasses = 5

// stop stops a process and its descendants. It skips processes that are already stopped or have ended. A process may
// start others, or resume stopped ones, until it is stopped itself. So stop repeats until it finds no running process.
func stop(pid int, born string) stopped {
	var tree stopped
	for range maxPasses {
		before := len(tree)
		tree.add(pid, func(fields []string) bool { return fields[startTime] == born }, 0)
		if len(tree) == before {
			break
		}
	}
	return tree
}

// add stops a process and its descendants. If expected returns false, it does nothing, because the process ID may
// meanwhile belong to another process.
func (s *stopped) add(pid int, expected func(fields []string) bool, depth int) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	fields, ok := statFields(dir)
	if !ok || depth > maxDepth || !expected(fields) {
		_ = unix.Close(handle)
		return
	}
	if fields[0] == "T" || fields[0] == "Z" || unix.PidfdSendSignal(handle, unix.SIGSTOP, nil, 0) != nil {
		_ = unix.Close(handle)
	} else {
		*s = append(*s, handle)
	}
	for _, child := range children(dir) {
		s.add(child, func(fields []string) bool { return int(parse(fields[1])) == pid }, depth+1)
	}
}

func (s stopped) resume() {
	for _, handle := range s {
		_ = unix.PidfdSendSignal(handle, unix.SIGCONT, nil, 0)
	}
}

func (s stopped) close() {
	for _, handle := range s {
		_ = unix.Close(handle)
	}
}

// maxDepth is the maximum depth of the search, because a chain of processes can be as long as the process limit.
const maxDepth = 2 * maxTasks

// sample contains the sums of measured values over processes.
type sample struct {
	cgroups.Stats
	held int64 // number of sockets, or an upper bound of it

	memory      func(dir string) int64
	descriptors func(dir string) int64
}

// count adds the values of all processes of the jail.
func (w *watch) count(into *sample) {
	depth := 0
	if !w.deep {
		depth = maxDepth
	}
	into.count(w.pid, depth)
}

// count adds the values of a process and its descendants.
func (t *sample) count(pid int, depth int) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	fields, ok := statFields(dir)
	if !ok || depth > maxDepth {
		return
	}
	// Fields after the name: user and system time, the same times of children that were waited for, number of threads.
	var ticks int64
	for _, at := range []int{11, 12, 13, 14} {
		ticks += parse(fields[at])
	}
	t.CPU += time.Duration(ticks) * time.Second / ticksPerSecond
	t.Pids += parse(fields[17])
	t.Memory += t.memory(dir)
	t.held += t.descriptors(dir)
	for _, child := range children(dir) {
		t.count(child, depth+1)
	}
}

// children returns the processes that were started by the threads of a process.
func children(dir string) []int {
	threads, err := os.ReadDir(filepath.Join(dir, "task"))
	if err != nil {
		return nil
	}
	var pids []int
	for _, thread := range threads {
		text, err := os.ReadFile(filepath.Join(dir, "task", thread.Name(), "children"))
		if err != nil {
			continue
		}
		for child := range strings.FieldsSeq(string(text)) {
			pids = append(pids, int(parse(child)))
		}
	}
	return pids
}

// startTime is the index of the start time in statFields.
const startTime = 19

// startOf returns the start time of a process in the kernel's units.
func startOf(pid int) (string, bool) {
	fields, ok := statFields(filepath.Join("/proc", strconv.Itoa(pid)))
	if !ok {
		return "", false
	}
	return fields[startTime], true
}

func statFields(dir string) ([]string, bool) {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return nil, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	return fields, len(fields) > startTime
}

// socketMemory returns the memory that a socket can hold with the default size of its buffers.
func socketMemory() int64 {
	const usual = 212992
	text, err := os.ReadFile("/proc/sys/net/core/wmem_default")
	if err != nil {
		return usual
	}
	return parse(strings.TrimSpace(string(text)))
}

// maxDescriptors returns the number of a process's descriptors, which is an upper bound of the number of its sockets.
func maxDescriptors(dir string) int64 {
	entries, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return 0
	}
	return int64(len(entries))
}

// sockets adds the sockets of processes to a set, by their names. It returns 0, because the size of the set is the
// number of sockets.
func sockets(into map[string]struct{}) func(dir string) int64 {
	return func(dir string) int64 {
		entries, _ := os.ReadDir(filepath.Join(dir, "fd")) // a process that has ended has no sockets
		for _, entry := range entries {
			if target, err := os.Readlink(filepath.Join(dir, "fd", entry.Name())); err == nil && strings.HasPrefix(target, "socket:") {
				into[target] = struct{}{}
			}
		}
		return 0
	}
}

// proportional returns the memory of a process. A page that n processes share counts as 1/n. The kernel does not allow
// this detailed view of process 1, but process 1 shares little memory.
func proportional(dir string) int64 {
	text, err := os.ReadFile(filepath.Join(dir, "smaps_rollup"))
	if err != nil || len(text) == 0 {
		return resident(dir)
	}
	return kilobytes(text, "Pss_Anon:", "Pss_Shmem:") << 10
}

// resident returns the memory of a process without files of the host. A shared page counts once for each process, so
// the sum is an upper bound.
func resident(dir string) int64 {
	text, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return 0
	}
	return kilobytes(text, "RssAnon:", "RssShmem:") << 10
}

// kilobytes returns the sum of two fields, given by their names, in lines of the form "name number kB".
func kilobytes(text []byte, a, b string) int64 {
	var sum int64
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && (fields[0] == a || fields[0] == b) {
			sum += parse(fields[1])
		}
	}
	return sum
}

func parse(text string) int64 {
	value, _ := strconv.ParseInt(text, 10, 64)
	return value
}
