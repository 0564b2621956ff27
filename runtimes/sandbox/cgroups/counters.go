package cgroups

import (
	"bytes"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// counter is a file that holds a number, or lines of "name number".
type counter struct {
	dir, file string
	name      []byte // of the line, nil where the file is the number
}

// The counters of a group, in the order of Group.counters.
const (
	countCPU = iota
	countMemory
	countPeak
	countKills
	countPids
	countHits
	counterCount
)

// counters reads files that stay open: a pooled worker's are read twice per run, and to look a path up in a control group's
// file system takes ten times as long as to read what is there. A file is opened when it is first read.
type counters struct {
	of [counterCount]counter

	mu     sync.Mutex
	open   [counterCount]int // file descriptors and 1, 0 while a file is not open: a File reads once more to see the end
	closed bool
}

// countersOf are the files of a group.
func (g *Group) countersOf() [counterCount]counter {
	if g.v2 {
		dir := g.dirs["unified"]
		return [counterCount]counter{
			countCPU:    {dir, "cpu.stat", []byte("usage_usec")},
			countMemory: {dir, "memory.current", nil},
			countPeak:   {dir, "memory.peak", nil},
			countKills:  {dir, "memory.events", []byte("oom_kill")},
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

// read answers a counter, 0 where the host does not count it or the group is gone.
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

// write puts text into the file of a counter, where the kernel takes that.
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
		if at == countPeak { // it can be written to; on version 2 what is read then depends on who wrote
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

// numberIn reads the number of a text, or of its line with this name; 0 if there is none.
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
