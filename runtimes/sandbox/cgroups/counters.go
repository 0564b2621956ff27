package cgroups

import (
	"bytes"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// counter is a file that contains a number, or lines of "name number".
type counter struct {
	dir, file string
	name      []byte // name at the start of the line; nil if the file contains only a number
}

// Indexes of a group's counters.
const (
	countCPU = iota
	countMemory
	countPeak
	countKills
	countFull // how often the memory limit was reached; exists only in version 2
	countPids
	countHits
	counterCount
)

// counters reads the counter files of a group. It opens a file at its first read and keeps it open, because in a control
// group's file system opening takes ten times as long as reading. The counters of a pooled worker are read twice per run.
type counters struct {
	of [counterCount]counter

	mu     sync.Mutex
	open   [counterCount]int // file descriptors plus 1; 0 if not open; an os.File would need one more read
	closed bool
}

// countersOf returns the counter files of a group.
func (g *Group) countersOf() [counterCount]counter {
	if g.v2 {
		dir := g.dirs["unified"]
		return [counterCount]counter{
			countCPU:    {dir, "cpu.stat", []byte("usage_usec")},
			countMemory: {dir, "memory.current", nil},
			countPeak:   {dir, "memory.peak", nil},
			countKills:  {dir, "memory.events", []byte("oom_kill")},
			countFull:   {dir, "memory.events", []byte("oom")},
			countPids:   {dir, "pids.current", nil},
			countHits:   {dir, "pids.events", []byte("max")},
		}
	}
	memory, pids := g.dirs["memory"], g.dirs["pids"]
	return [counterCount]counter{
		countCPU:    {g.dirs["cpuacct"], "cpuacct.usage", nil},
		countMemory: {memory, "memory.usage_in_bytes", nil},
		countPeak:   {memory, "memory.max_usage_in_bytes", nil},
		countKills:  {memory, "memory.oom_control", []byte("oom_kill")},
		countPids:   {pids, "pids.current", nil},
		countHits:   {pids, "pids.events", []byte("max")},
	}
}

// read returns the value of a counter. It returns 0 if the host does not have the counter or the group is removed.
func (c *counters) read(at int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	fd, ok := c.file(at)
	if !ok {
		return 0
	}
	var buf [512]byte
	n, _ := unix.Pread(fd, buf[:], 0)
	return numberIn(buf[:max(n, 0)], c.of[at].name)
}

// write writes text to the file of a counter. It ignores errors, because some kernels do not permit this.
func (c *counters) write(at int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fd, ok := c.file(at); ok {
		_, _ = unix.Pwrite(fd, []byte(text), 0)
	}
}

func (c *counters) file(at int) (int, bool) {
	of := c.of[at]
	if c.open[at] == 0 && !c.closed && of.dir != "" {
		path := filepath.Join(of.dir, of.file)
		fd, err := -1, error(nil)
		// Opened for writing, because a write resets the peak; in version 2 the new peak is visible only through the same
		// descriptor.
		if at == countPeak {
			fd, err = unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		}
		if fd < 0 {
			fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		if err == nil {
			c.open[at] = fd + 1
		}
	}
	return c.open[at] - 1, c.open[at] != 0
}

func (c *counters) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for at, fd := range c.open {
		if fd != 0 {
			_ = unix.Close(fd - 1)
			c.open[at] = 0
		}
	}
}

// numberIn returns the number in text, or the number in the line of text that starts with name. It returns 0 if there
// is none.
func numberIn(text, name []byte) int64 {
	if name != nil {
		for {
			line, rest, more := bytes.Cut(text, []byte{'\n'})
			if value, ok := bytes.CutPrefix(line, name); ok && len(value) > 0 && value[0] == ' ' {
				text = value
				break
			}
			if !more {
				return 0
			}
			text = rest
		}
	}
	value, _ := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return value
}
