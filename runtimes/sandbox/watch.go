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

// watchEvery is the interval between two looks at a process tree that no control group counts.
const watchEvery = 20 * time.Millisecond

// ticksPerSecond is the unit of CPU time in /proc on every Linux that Go runs on.
const ticksPerSecond = 100

// watch measures a process tree at intervals, and kills it when it exceeds its limits. It is a weaker substitute for a
// control group: it sees the state every watchEvery, but no events in between. A tree that may hold more than its limit in
// sockets is stopped while it is measured. Otherwise many busy processes would delay the measurement, and go on to fill
// their sockets.
type watch struct {
	pid  int  // process 1 of the jail; every other process is its descendant, including orphans
	deep bool // whether descendants count; those of a launcher are other jails, and share its memory until they begin
	kill func()
	over chan struct{} // a limit was exceeded, so run kills
	stop chan struct{}
	done chan struct{}
	once sync.Once

	born         string // start time of process 1, which tells it from a later process with the same number
	socketMemory int64  // memory that one socket can hold

	looking sync.Mutex // held while the tree is measured, and possibly stopped
	mu      sync.Mutex
	memory  int64 // limits, 0 if not set yet
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

// look measures once. It asks run to kill a tree that exceeds a limit. Such a tree stays stopped until then.
func (w *watch) look() {
	w.looking.Lock()
	defer w.looking.Unlock()
	seen := sample{memory: resident, descriptors: maxDescriptors}
	w.count(&seen)
	if born, ok := startOf(w.pid); seen.Pids == 0 || !ok || born != w.born {
		return // dead: the last values stay
	}
	broken := false
	w.mu.Lock()
	limit := w.memory
	w.mu.Unlock()
	if limit > 0 && seen.Memory+seen.held*w.socketMemory > limit { // counts shared memory and sockets only once, which takes longer
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
		default: // run is about to kill it already
		}
	}
}

// stopped holds the handles of processes that stop stopped.
type stopped []int

// maxPasses bounds how often stop looks for processes that started before their parent stopped.
const maxPasses = 5

// stop stops a process and its descendants. It leaves out processes that are stopped already or have ended. A process may start others, or
// resume stopped ones, until its own stop takes effect, so stop repeats until it finds none that runs.
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

// add stops a process, if it is the expected one, and its descendants. Its number may be of another one by now.
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

// maxDepth bounds the walk: a chain of processes can be as long as the process limit.
const maxDepth = 2 * maxTasks

// sample adds up processes.
type sample struct {
	cgroups.Stats
	held int64 // number of sockets, or an upper bound

	memory      func(dir string) int64
	descriptors func(dir string) int64
}

// count adds up the processes of the jail.
func (w *watch) count(into *sample) {
	depth := 0
	if !w.deep {
		depth = maxDepth
	}
	into.count(w.pid, depth)
}

// count adds up a process and its descendants.
func (t *sample) count(pid int, depth int) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	fields, ok := statFields(dir)
	if !ok || depth > maxDepth {
		return
	}
	// Fields after the name: user and system time, the same of children that were waited for, threads.
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

// children returns the processes that the threads of a process started.
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

// maxDescriptors returns the number of descriptors that a process has, which is at least that of its sockets.
func maxDescriptors(dir string) int64 {
	entries, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return 0
	}
	return int64(len(entries))
}

// sockets collects the sockets of processes by their names. It returns 0, because the set has their number.
func sockets(into map[string]struct{}) func(dir string) int64 {
	return func(dir string) int64 {
		entries, _ := os.ReadDir(filepath.Join(dir, "fd")) // of a process that has ended, there are none
		for _, entry := range entries {
			if target, err := os.Readlink(filepath.Join(dir, "fd", entry.Name())); err == nil && strings.HasPrefix(target, "socket:") {
				into[target] = struct{}{}
			}
		}
		return 0
	}
}

// proportional returns the memory of a process, where a page shared by n processes counts as 1/n. Process 1 does not
// permit this detailed view, but shares little memory.
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

// kilobytes adds up the fields of two names in lines of "name number kB".
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
