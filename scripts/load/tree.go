package load

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticks is USER_HZ, which Linux fixes for everything it tells in /proc.
const ticks = 100

// Tree is a process with everything that it started.
type Tree struct {
	Pids []int
	CPU  time.Duration // also of those that ended and were waited for
	PSS  int64         // bytes; pages that several share count once
}

// LookAt walks a process and its descendants. Who ends while being looked at is left out.
func LookAt(pid int) Tree {
	t := family(pid)
	for _, pid := range t.Pids {
		t.PSS += PSS(pid)
	}
	return t
}

// family is LookAt without the memory, which takes the kernel long to add up.
func family(pid int) Tree {
	children, cpu := processes()
	t := Tree{Pids: []int{pid}}
	for i := 0; i < len(t.Pids); i++ {
		t.Pids = append(t.Pids, children[t.Pids[i]]...)
	}
	for _, pid := range t.Pids {
		t.CPU += cpu[pid]
	}
	return t
}

// Watch adds up the time that this process and its descendants take until the answer is called for it. It looks twice a
// second: a browser ends without waiting for its own, and takes their time with it.
func Watch() func() time.Duration {
	stop, told := make(chan struct{}), make(chan time.Duration)
	go func() {
		var spent time.Duration
		last := family(os.Getpid()).CPU
		look := func() {
			now := family(os.Getpid()).CPU
			spent += max(0, now-last)
			last = now
		}
		turns := time.NewTicker(500 * time.Millisecond)
		defer turns.Stop()
		for {
			select {
			case <-turns.C:
				look()
			case <-stop:
				look()
				told <- spent
				return
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-told
	}
}

// Born tells a process from a later one with its number; "" if there is none. A zombie counts as gone.
func Born(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" {
		return ""
	}
	return fields[19]
}

// processes reads every process: the children of each, and its time with that of its dead children.
func processes() (children map[int][]int, cpu map[int]time.Duration) {
	children, cpu = map[int][]int{}, map[int]time.Duration{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		_, rest, _ := strings.Cut(string(text), ") ") // the command before it may contain anything
		fields := strings.Fields(rest)
		if len(fields) < 15 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
		for _, field := range fields[11:15] {
			n, _ := strconv.Atoi(field)
			cpu[pid] += time.Duration(n) * time.Second / ticks
		}
	}
	return children, cpu
}

// PSS is a process's share of the memory, in bytes.
func PSS(pid int) int64 { return field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:") }

// RSS is what a process has in memory, in bytes.
func RSS(pid int) int64 { return field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:") }

// field reads a line of "Name:   123 kB".
func field(path, name string) int64 {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	text := bufio.NewScanner(file)
	for text.Scan() {
		if fields := strings.Fields(text.Text()); len(fields) > 1 && fields[0] == name {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}

// Busy is the time that all processors together have not been idle.
func Busy() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var busy time.Duration
	for i, field := range strings.Fields(line) {
		if n, err := strconv.ParseInt(field, 10, 64); err == nil && i != 4 && i != 5 && i < 9 { // idle, iowait; guests count twice
			busy += time.Duration(n) * time.Second / ticks
		}
	}
	return busy
}

// OwnCPU is the time that this process has taken.
func OwnCPU() time.Duration {
	_, cpu := processes()
	return cpu[os.Getpid()]
}
