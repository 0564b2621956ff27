package doctor

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

// burial is how long processes and cgroups of a run may exist after its result. The server reports the result before
// the kernel has removed them.
const burial = 2 * time.Second

// persistence runs a program that leaves files and daemons, and then searches for these on the host and in the next
// run.
func (d *Doctor) persistence(ctx context.Context, engines []Engine) {
	for _, e := range engines {
		if attacks.Source(e.Language, "mark") == "" {
			continue
		}
		if e.Language == runtimes.Python || e.Language == runtimes.Bash {
			d.remains(ctx, e)
		} else {
			d.add(d.marks(ctx, e, run(ctx, e, job(e, attacks.Source(e.Language, "mark")))))
		}
		if e.Name == runtimes.Goja && e.Language == runtimes.JavaScript {
			d.add(judgeIdentity(e.Language, workers(), os.Geteuid()))
		}
	}
}

// remains observes a run with daemons from the host.
func (d *Doctor) remains(ctx context.Context, e Engine) {
	nap := "600." + digits()
	host, ended := newRecorder(), make(chan struct{})
	var first trial
	go func() {
		defer close(ended)
		began := time.Now()
		first.outcome, first.err = e.Runtime.Run(ctx, job(e, attacks.Source(e.Language, "mark"), input(map[string]any{"nap": nap, "seconds": 2})), host)
		first.took = time.Since(began)
	}()
	host.await(ctx, "ready", ended)
	seen := sightings(func(argv string) bool { return strings.Contains(argv, nap) })
	// The daemons may not have started yet.
	for until := time.Now().Add(time.Second); len(seen) < 2 && time.Now().Before(until); {
		time.Sleep(5 * time.Millisecond)
		seen = sightings(func(argv string) bool { return strings.Contains(argv, nap) })
	}
	<-ended
	over := time.Now()
	left := seen
	for len(left) > 0 && time.Since(over) < burial {
		if left = remaining(seen); len(left) > 0 {
			time.Sleep(time.Millisecond)
		}
	}
	d.add(judgeIdentity(e.Language, seen, os.Geteuid()))
	d.add(judgeRemains(e.Language, first, seen, left, time.Since(over)))
	d.add(d.marks(ctx, e, first))
}

// marks runs a program that searches for the files of the first run.
func (d *Doctor) marks(ctx context.Context, e Engine, first trial) Check {
	second := run(ctx, e, job(e, attacks.Source(e.Language, "mark")))
	c := Check{Group: Persistence, Name: "marks of the previous run", Language: e.Language, Verdict: Fail, Fix: ask}
	var there []string
	switch {
	case first.failure() != "" || second.failure() != "":
		c.Evidence, c.Fix = "The program failed: "+first.failure()+second.failure(), d.remedyOfEngine(e)
	case json.Unmarshal(second.outcome.Output, &there) != nil:
		c.Evidence = "it returned " + firstLine(string(second.outcome.Output))
	case len(there) > 0:
		c.Evidence = "the next run sees " + strings.Join(there, ", ")
	default:
		c.Verdict, c.Evidence = Pass, "the next run sees none"
	}
	return c
}

// sighting is a process of a run, seen from the host.
type sighting struct {
	pid    int
	start  string // start time in kernel ticks; together with pid it identifies the process even if its name changes
	status string
	groups []string // cgroups of its sandbox
}

// sightings returns the processes of the host for whose command line wanted returns true.
func sightings(wanted func(argv string) bool) []sighting {
	var seen []sighting
	entries, _ := os.ReadDir("/proc") // on an error the list is empty
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		argv := word(filepath.Join("/proc", entry.Name(), "cmdline"))
		if argv == "" || !wanted(strings.ReplaceAll(argv, "\x00", " ")) {
			continue
		}
		s := sighting{pid: pid, start: startOf(pid), status: word(filepath.Join("/proc", entry.Name(), "status"))}
		dirs, _ := cgroups.Of(pid)
		for _, dir := range dirs {
			if strings.Contains(dir, "/atelier-") {
				s.groups = append(s.groups, dir)
			}
		}
		if s.status != "" {
			seen = append(seen, s)
		}
	}
	return seen
}

// workers returns the sandboxed JavaScript workers that this process has started.
func workers() []sighting {
	all := sightings(func(argv string) bool { return strings.Contains(argv, "__sbx goja") })
	own := strconv.Itoa(os.Getpid())
	return slices.DeleteFunc(all, func(s sighting) bool { return field(s.status, "PPid") != own })
}

// remaining returns those of the processes that still exist or are still in their cgroups. The cgroups themselves may
// still exist, because the next run may already use them.
func remaining(seen []sighting) []sighting {
	var left []sighting
	for _, s := range seen {
		now := word(filepath.Join("/proc", strconv.Itoa(s.pid), "status"))
		same := now != "" && startOf(s.pid) == s.start && !strings.HasPrefix(field(now, "State"), "Z")
		if same || slices.ContainsFunc(s.groups, s.member) {
			left = append(left, s)
		}
	}
	return left
}

// member reports whether a cgroup contains the process.
func (s sighting) member(group string) bool {
	return slices.Contains(strings.Fields(word(filepath.Join(group, "cgroup.procs"))), strconv.Itoa(s.pid))
}

// judgeIdentity checks the host users of a run's processes. No process may run as root. If the server is root, the
// users must therefore differ from the server's user.
func judgeIdentity(language runtimes.Language, seen []sighting, server int) Check {
	c := Check{Group: Persistence, Name: "seen from the host", Language: language, Verdict: Fail, Fix: ask}
	if len(seen) == 0 {
		c.Evidence = "no process of the run was found on the host, so the test is inconclusive"
		return c
	}
	var wrong []string
	ids := map[string]bool{}
	for _, s := range seen {
		wrong = append(wrong, wrongRights(s.status)...)
		uid, _, _ := strings.Cut(field(s.status, "Uid"), "\t")
		ids[uid] = true
	}
	users := make([]string, 0, len(ids))
	for id := range ids {
		users = append(users, id)
	}
	slices.Sort(users)
	wrong = slices.Compact(wrong)
	own := strconv.Itoa(server)
	switch {
	case len(wrong) > 0:
		c.Evidence = strings.Join(cutList(wrong, 6), ", ")
		if !slices.ContainsFunc(wrong, func(w string) bool { return !strings.HasPrefix(w, "Seccomp") }) {
			c.Mechanism = sandbox.Seccomp
		}
	case slices.Contains(users, own):
		c.Mechanism = sandbox.Users
		c.Evidence = "it has the server's user " + own + ", no capabilities, NoNewPrivs 1, Seccomp 2"
	default:
		c.Verdict, c.Evidence = Pass, fmt.Sprintf("%s with uid %s, no capabilities, NoNewPrivs 1, Seccomp 2", plural(len(seen), "process", "processes"), strings.Join(users, ", "))
	}
	return c
}

// judgeRemains returns the check that no process or cgroup of a run is left on the host.
func judgeRemains(language runtimes.Language, t trial, seen, left []sighting, after time.Duration) Check {
	c := Check{Group: Persistence, Name: "processes and control groups", Language: language, Verdict: Fail, Fix: ask}
	groups := 0
	for _, s := range seen {
		groups = max(groups, len(s.groups))
	}
	switch {
	case t.failure() != "":
		c.Evidence = "The program failed: " + t.failure()
	case len(seen) == 0:
		c.Evidence = "the daemons of the run were not found on the host, so the test is inconclusive"
	case len(left) > 0:
		c.Evidence = fmt.Sprintf("%s still exist %s after the answer", plural(len(left), "process", "processes"), burial)
	default:
		c.Verdict = Pass
		c.Evidence = fmt.Sprintf("%s and %s were seen; none is left %s after the answer", plural(len(seen), "daemon", "daemons"), plural(groups, "control group", "control groups"), after.Round(time.Millisecond))
	}
	return c
}

// startOf returns the start time of a process, field 22 of its stat file. It counts the fields after the name, because
// a name may contain spaces and parentheses.
func startOf(pid int) string {
	stat := word(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}

// digits returns nine random digits that identify the daemons of this run.
func digits() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%09d", binary.LittleEndian.Uint64(b[:])%1_000_000_000)
}
