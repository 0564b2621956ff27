package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// view maps the name of a text, such as a file of /proc, to the text that a program read inside its sandbox.
type view map[string]string

// parseView parses the output of the program "inside" of the catalogue.
func parseView(stdout string) view {
	v := view{}
	name := ""
	var text strings.Builder
	for line := range strings.Lines(stdout) {
		if next, ok := strings.CutPrefix(line, "@@ "); ok {
			v[name] = strings.TrimSpace(text.String())
			name = strings.TrimSpace(next)
			text.Reset()
			continue
		}
		text.WriteString(line)
	}
	v[name] = strings.TrimSpace(text.String())
	return v
}

func (v view) lines(name string) []string {
	if v[name] == "" {
		return nil
	}
	return strings.Split(v[name], "\n")
}

// insides runs a program in each language that inspects its environment.
func (d *Doctor) insides(ctx context.Context, engines []Engine) {
	for _, e := range engines {
		for _, c := range d.inside(ctx, e) {
			d.add(c)
		}
	}
}

// glances runs the same checks as insides when a server starts, for all languages concurrently.
func (d *Doctor) glances(ctx context.Context) {
	found := make([][]Check, len(d.Engines))
	var joined sync.WaitGroup
	for i, e := range d.Engines {
		if e.Unavailable != "" || attacks.Source(e.Language, "inside") == "" {
			continue
		}
		joined.Go(func() { found[i] = d.inside(ctx, e) })
	}
	joined.Wait()
	for _, checks := range found {
		for _, c := range checks {
			d.add(c)
		}
	}
}

func (d *Doctor) inside(ctx context.Context, e Engine) []Check {
	text := attacks.Source(e.Language, "inside")
	if text == "" {
		return nil
	}
	t := run(ctx, e, job(e, text))
	if wrong := t.failure(); wrong != "" {
		return []Check{{Group: Inside, Name: lookAround, Language: e.Language, Verdict: Fail, Evidence: "The program failed: " + wrong, Fix: d.remedyOfEngine(e)}}
	}
	if e.Language == runtimes.JavaScript {
		return judgeGlobals(t.outcome.Output)
	}
	return judgeView(parseView(t.stdout), Surroundings{
		Language: e.Language, Hostname: hostname(), Planted: d.Planted, CorePattern: word("/proc/sys/kernel/core_pattern"), Interpreter: e.Interpreter,
	})
}

// Surroundings holds data of the host that a program must not see.
type Surroundings struct {
	Language    runtimes.Language
	Hostname    string
	CorePattern string
	Interpreter string
	Planted     Planted
}

// judgeView returns the checks of a view.
func judgeView(v view, s Surroundings) []Check {
	checks := []Check{
		privileges(v), processes(v), mounts(v, s), descriptors(v), environmentOf(v, s), names(v, s), network(v), cores(v, s),
	}
	if s.Language == runtimes.Python {
		checks = append(checks, filtered(v))
	}
	for i := range checks {
		checks[i].Group, checks[i].Language = Inside, s.Language
		if checks[i].Verdict == Fail {
			checks[i].Fix = ask
		}
	}
	return checks
}

// unseen returns the check for a text of /proc that a program could not read, because the sandbox has no /proc.
func unseen(name string) Check {
	return Check{Name: name, Verdict: Fail, Mechanism: sandbox.Proc, Evidence: "Unknown: programs have no /proc."}
}

// privileges checks the privileges of a process. Each field must have its expected value; any other value is a security
// hole.
func privileges(v view) Check {
	status := v["status"]
	if status == "" {
		return unseen("privileges")
	}
	wrong := wrongRights(status)
	c := Check{Name: "privileges", Verdict: verdict(len(wrong) == 0), Evidence: "NoNewPrivs 1, Seccomp 2, no capabilities, uid " + v["user"]}
	if len(wrong) > 0 {
		c.Evidence = strings.Join(wrong, ", ")
		if len(wrong) == 1 && strings.HasPrefix(wrong[0], "Seccomp") {
			c.Mechanism = sandbox.Seccomp
		}
	}
	return c
}

// wrongRights lists the fields of a status file that differ from their required values in a sandbox.
func wrongRights(status string) []string {
	var wrong []string
	for _, want := range []struct{ name, value string }{
		{"NoNewPrivs", "1"},
		{"Seccomp", "2"},
		{"CapInh", noCapabilities},
		{"CapPrm", noCapabilities},
		{"CapEff", noCapabilities},
		{"CapBnd", noCapabilities},
		{"CapAmb", noCapabilities},
	} {
		if got := field(status, want.name); got != want.value {
			wrong = append(wrong, fmt.Sprintf("%s is %s, not %s", want.name, orNone(got), want.value))
		}
	}
	for _, name := range []string{"Uid", "Gid"} {
		if ids := strings.Fields(field(status, name)); len(ids) != 4 || slices.Contains(ids, "0") {
			wrong = append(wrong, fmt.Sprintf("%s is %s", name, orNone(strings.Join(ids, " "))))
		}
	}
	return wrong
}

// filtered checks both filters of a Python program. The filter of its fork server must block the creation of a socket;
// the program's own filter must block the change of a limit. Without a filter the kernel allows both.
func filtered(v view) Check {
	want := []string{"AF_NETLINK EAFNOSUPPORT", "RLIMIT_CORE EPERM"}
	got := v.lines("calls")
	return Check{Name: "refused calls", Verdict: verdict(slices.Equal(got, want)), Mechanism: sandbox.Seccomp, Evidence: orNone(strings.Join(got, ", "))}
}

const noCapabilities = "0000000000000000"

// mostProcesses is the maximum number of processes in the sandbox: process 1, the program, and the processes that the
// program starts for the inspection.
const mostProcesses = 6

func processes(v view) Check {
	seen := v.lines("processes")
	if len(seen) == 0 {
		return unseen("processes")
	}
	return Check{Name: "processes", Verdict: verdict(len(seen) <= mostProcesses), Evidence: fmt.Sprintf("it sees %s: %s", plural(len(seen), "process", "processes"), strings.Join(cutList(seen, 8), ", "))}
}

// writable returns the only folders in which a program may write. /proc is one of them, because a program sets the
// names of its threads there.
func writable() []string {
	return []string{sandbox.WorkDir, sandbox.TempDir, sandbox.SharedDir, "/proc"}
}

func mounts(v view, s Surroundings) Check {
	table := v.lines("mounts")
	if len(table) == 0 {
		return unseen("mounts")
	}
	var wrong, open []string
	for _, line := range table {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			wrong = append(wrong, "unreadable: "+line)
			continue
		}
		point, options := fields[4], strings.Split(fields[5], ",")
		switch {
		case !expected(point, s):
			wrong = append(wrong, point+" is of the host")
		case !slices.Contains(options, "ro") && !slices.Contains(writable(), point):
			wrong = append(wrong, point+" can be written")
		case !slices.Contains(options, "nosuid"):
			wrong = append(wrong, point+" honours set-uid")
		case strings.Contains(line, "shared:") || strings.Contains(line, "master:"):
			wrong = append(wrong, point+" shares mounts with the host")
		}
		if !slices.Contains(options, "ro") {
			open = append(open, point)
		}
	}
	c := Check{Name: "mounts", Verdict: verdict(len(wrong) == 0), Evidence: fmt.Sprintf("%s; can be written: %s", plural(len(table), "mount", "mounts"), strings.Join(open, " "))}
	if len(wrong) > 0 {
		c.Evidence = strings.Join(cutList(wrong, 8), ", ")
	}
	return c
}

// expected reports whether a sandbox may have a mount at a path.
func expected(point string, s Surroundings) bool {
	for _, place := range []string{"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/dev", "/etc/alternatives", "/etc/ld.so.cache"} {
		if point == place || strings.HasPrefix(point, place+"/") {
			return true
		}
	}
	// If an interpreter is outside /usr, its folder is mounted.
	return point == "/" || slices.Contains(writable(), point) || s.Interpreter != "" && strings.HasPrefix(s.Interpreter, point+"/")
}

func descriptors(v view) Check {
	table := v.lines("descriptors")
	if len(table) == 0 {
		return unseen("descriptors")
	}
	var wrong, all []string
	for _, line := range table {
		number, target, _ := strings.Cut(line, " ")
		fine := target == "gone" || target == "/dev/null" || strings.HasPrefix(target, "pipe:") || strings.HasPrefix(target, "socket:") ||
			strings.HasPrefix(target, "/proc/") || target == "anon_inode:[eventfd]" || target == "anon_inode:[eventpoll]" || // descriptor of an event loop
			strings.HasPrefix(target, sandbox.WorkDir+"/")
		all = append(all, number)
		if !fine {
			wrong = append(wrong, number+" is "+target)
		}
	}
	c := Check{Name: "descriptors", Verdict: verdict(len(wrong) == 0), Evidence: "open: " + strings.Join(all, " ") + ", all its own"}
	if len(wrong) > 0 {
		c.Evidence = strings.Join(wrong, ", ")
	}
	return c
}

// ours returns the names of the environment variables that engines or a shell set for a program.
func ours() []string {
	return []string{"PATH", "HOME", "LANG", "TMPDIR", "LC_CTYPE", "INPUT", "INPUT_FILE", "OUTPUT", "PWD", "OLDPWD", "SHLVL", "_"}
}

func environmentOf(v view, s Surroundings) Check {
	var wrong, all []string
	for _, line := range v.lines("environment") {
		name, value, _ := strings.Cut(line, "=")
		all = append(all, name)
		if !slices.Contains(ours(), name) || s.Planted.Secret != "" && strings.Contains(value, s.Planted.Secret) {
			wrong = append(wrong, name)
		}
	}
	slices.Sort(all)
	c := Check{Name: "environment", Verdict: verdict(len(wrong) == 0 && len(all) > 0), Evidence: "only " + strings.Join(all, " ")}
	if len(wrong) > 0 {
		c.Evidence = "it has " + strings.Join(cutList(wrong, 8), " ")
	}
	return c
}

func names(v view, s Surroundings) Check {
	got := v["hostname"]
	return Check{Name: "host name", Verdict: verdict(got == "sandbox" || got != "" && got != s.Hostname), Evidence: "it is " + orNone(got)}
}

// network checks the network interfaces. Some kernels create tunnels in every network namespace. These are allowed,
// because they are down and connect to nothing.
func network(v view) Check {
	table := v.lines("network")
	if len(table) < 2 {
		return unseen("network interfaces")
	}
	empty := []string{"lo", "sit0", "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "ip6tnl0", "ip6gre0"}
	var all, wrong []string
	for _, line := range table[2:] {
		name, _, _ := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		all = append(all, name)
		if !slices.Contains(empty, name) {
			wrong = append(wrong, name)
		}
	}
	c := Check{Name: "network interfaces", Verdict: verdict(len(wrong) == 0), Evidence: "only " + orNone(strings.Join(all, " "))}
	if len(wrong) > 0 {
		c.Evidence = "it has " + strings.Join(wrong, " ")
	}
	return c
}

// cores checks that the kernel does not pass a crashed program to a helper program on the host. A limit of exactly 1
// byte prevents this; a limit of 0 prevents only core files. Another check tests that the program cannot change the
// limit.
func cores(v view, s Surroundings) Check {
	var limits []string
	for _, line := range v.lines("limits") {
		if rest, ok := strings.CutPrefix(line, "Max core file size"); ok {
			limits = strings.Fields(rest)
		}
	}
	if len(limits) < 2 {
		return unseen("core dumps")
	}
	holds := limits[0] == "1" && limits[1] == "1" || limits[1] == "0" && !strings.HasPrefix(s.CorePattern, "|")
	return Check{Name: "core dumps", Verdict: verdict(holds), Evidence: fmt.Sprintf("limit %s, at most %s; core_pattern %q", limits[0], limits[1], s.CorePattern)}
}

// judgeGlobals checks which global objects and variables a JavaScript program can reach.
func judgeGlobals(output json.RawMessage) []Check {
	var got struct{ Reachable, Environment []string }
	c := Check{Group: Inside, Name: "globals", Language: runtimes.JavaScript, Fix: ask}
	switch err := json.Unmarshal(output, &got); {
	case err != nil:
		c.Verdict, c.Evidence = Fail, "it returned "+firstLine(string(output))
	case len(got.Reachable)+len(got.Environment) > 0:
		c.Verdict, c.Evidence = Fail, "it reaches "+strings.Join(append(got.Reachable, got.Environment...), " ")
	default:
		c.Verdict, c.Evidence, c.Fix = Pass, "no process, require or WebAssembly, and an empty environment", ""
	}
	return []Check{c}
}

func cutList(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
}
