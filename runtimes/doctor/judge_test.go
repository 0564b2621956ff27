package doctor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

// named returns the check with a name.
func named(t *testing.T, checks []doctor.Check, name string) doctor.Check {
	t.Helper()
	at := slices.IndexFunc(checks, func(c doctor.Check) bool { return c.Name == name })
	if at < 0 {
		t.Fatalf("no check %q in %+v", name, checks)
	}
	return checks[at]
}

func goodFacts() doctor.Facts {
	return doctor.Facts{
		Kernel: "6.18.1", Machine: "x86_64", Capabilities: "000001ffffffffff", Actions: "kill_process kill_thread trap errno", Modules: "landlock,yama",
		Settings:     map[string]string{"user/max_user_namespaces": "9999", "kernel/core_pattern": "core", "fs/protected_symlinks": "1"},
		Groups:       []doctor.Control{{Dir: "/sys/fs/cgroup/x", Writable: true, Swap: true}},
		Binary:       doctor.File{Path: "/usr/bin/atelier", Real: "/usr/bin/atelier", Mode: 0o755},
		Interpreters: []doctor.File{{Path: "/usr/bin/python3", Real: "/usr/bin/python3.11", Mode: 0o755}},
	}
}

func goodHost() sandbox.Host { return sandbox.Host{Landlock: 7, Cgroups: cgroups.V2} }

func TestGoodEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range doctor.Judge(goodFacts(), sandbox.Level{Level: sandbox.LevelFull}, goodHost()) {
		if c.Verdict != doctor.Pass || c.Evidence == "" || c.Fix != "" {
			t.Errorf("%+v", c)
		}
	}
}

func TestEveryEnvironmentCheckCanFail(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		check   string
		facts   func(*doctor.Facts)
		host    func(*sandbox.Host)
		level   string
		verdict doctor.Verdict
		fix     string
	}{
		"old kernel":          {check: "kernel", facts: func(f *doctor.Facts) { f.Kernel = "5.4.0" }, verdict: doctor.Fail, fix: "5.12"},
		"unknown kernel":      {check: "kernel", facts: func(f *doctor.Facts) { f.Kernel = "" }, verdict: doctor.Fail, fix: "5.12"},
		"no seccomp":          {check: "seccomp", facts: func(f *doctor.Facts) { f.Actions = "" }, verdict: doctor.Fail, fix: "CONFIG_SECCOMP_FILTER"},
		"old seccomp":         {check: "seccomp", facts: func(f *doctor.Facts) { f.Actions = "kill trap errno" }, verdict: doctor.Fail, fix: "4.14"},
		"no landlock":         {check: "landlock", host: func(h *sandbox.Host) { h.Landlock = 0 }, verdict: doctor.Reduced, fix: "lsm="},
		"no user namespaces":  {check: "user namespaces", facts: func(f *doctor.Facts) { f.Settings["user/max_user_namespaces"] = "0" }, level: sandbox.LevelNone, verdict: doctor.Fail, fix: "sysctl user.max_user_namespaces="},
		"Debian's setting":    {check: "user namespaces", facts: func(f *doctor.Facts) { f.UID = 1; f.Settings["kernel/unprivileged_userns_clone"] = "0" }, level: sandbox.LevelNone, verdict: doctor.Fail, fix: "sysctl kernel.unprivileged_userns_clone=1"},
		"Ubuntu's setting":    {check: "user namespaces", facts: func(f *doctor.Facts) { f.UID = 1; f.Settings["kernel/apparmor_restrict_unprivileged_userns"] = "1" }, level: sandbox.LevelNone, verdict: doctor.Fail, fix: "AppArmor profile"},
		"setting, but works":  {check: "user namespaces", facts: func(f *doctor.Facts) { f.UID = 1; f.Settings["kernel/apparmor_restrict_unprivileged_userns"] = "1" }, level: sandbox.LevelFull, verdict: doctor.Pass},
		"no control groups":   {check: "control groups", host: func(h *sandbox.Host) { h.Cgroups = cgroups.None }, verdict: doctor.Reduced, fix: "Delegate=yes"},
		"swap is not counted": {check: "swap", facts: func(f *doctor.Facts) { f.Swap = true; f.Groups[0].Swap = false }, verdict: doctor.Reduced, fix: "swapaccount=1"},
		"swap is counted":     {check: "swap", facts: func(f *doctor.Facts) { f.Swap = true }, verdict: doctor.Pass},
		"loose binary":        {check: "binary", facts: func(f *doctor.Facts) { f.Binary.Loose = "/opt (owner 0, mode 0777)" }, verdict: doctor.Reduced, fix: "chmod go-w /opt"},
		"lost interpreter":    {check: "interpreter python3", facts: func(f *doctor.Facts) { f.Interpreters[0].Err = "gone" }, verdict: doctor.Fail, fix: "exists"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts, host, level := goodFacts(), goodHost(), tt.level
			if tt.facts != nil {
				tt.facts(&facts)
			}
			if tt.host != nil {
				tt.host(&host)
			}
			if level == "" {
				level = sandbox.LevelFull
			}
			c := named(t, doctor.Judge(facts, sandbox.Level{Level: level}, host), tt.check)
			if c.Verdict != tt.verdict || !strings.Contains(c.Fix, tt.fix) {
				t.Errorf("%+v", c)
			}
		})
	}
}

const goodStatus = `Name:	python3
State:	R (running)
PPid:	1
Uid:	200001	200001	200001	200001
Gid:	200001	200001	200001	200001
CapInh:	0000000000000000
CapPrm:	0000000000000000
CapEff:	0000000000000000
CapBnd:	0000000000000000
CapAmb:	0000000000000000
NoNewPrivs:	1
Seccomp:	2
`

func goodView() string {
	return "@@ status\n" + goodStatus + `@@ limits
Limit                     Soft Limit           Hard Limit           Units
Max core file size        1                    1                    bytes
@@ mounts
1 0 0:50 / / ro,nosuid,nodev,noexec - tmpfs sandbox rw
2 1 8:1 /usr /usr ro,nosuid,nodev - ext4 /dev/vda rw
3 1 0:51 /work /work rw,nosuid,nodev - tmpfs sandbox rw
4 1 0:6 /null /dev/null ro,nosuid,noexec - devtmpfs dev rw
5 1 0:52 / /proc rw,nosuid,nodev,noexec - proc proc rw
@@ network
Inter-|   Receive
 face |bytes
    lo:       0
@@ processes
13 python3
@@ descriptors
0 pipe:[1]
1 pipe:[2]
2 pipe:[3]
3 socket:[4]
4 /proc/13/fd
@@ calls
AF_NETLINK EAFNOSUPPORT
RLIMIT_CORE EPERM
@@ environment
PATH=/usr/bin
HOME=/work
@@ hostname
sandbox
@@ user
1000
`
}

func TestEveryLookAroundCanFail(t *testing.T) {
	t.Parallel()
	here := doctor.Surroundings{Language: runtimes.Python, Hostname: "the-host", CorePattern: "core", Planted: doctor.Planted{Secret: "planted-secret"}}
	for _, c := range doctor.JudgeView(doctor.ParseView(goodView()), here) {
		if c.Verdict != doctor.Pass || c.Evidence == "" {
			t.Errorf("a good view: %+v", c)
		}
	}
	tests := map[string]struct{ check, old, new string }{
		"privileges may grow":        {"privileges", "NoNewPrivs:	1", "NoNewPrivs:	0"},
		"no filter":                  {"privileges", "Seccomp:	2", "Seccomp:	0"},
		"a fork server's filter":     {"refused calls", "NETLINK EAFNOSUPPORT", "NETLINK success"},
		"a child's filter":           {"refused calls", "CORE EPERM", "CORE success"},
		"no answers of a filter":     {"refused calls", "@@ calls", "@@ nothing"},
		"a capability":               {"privileges", "CapEff:	0000000000000000", "CapEff:	0000000000200000"},
		"capabilities by execution":  {"privileges", "CapBnd:	0000000000000000", "CapBnd:	000001ffffffffff"},
		"root":                       {"privileges", "Uid:	200001", "Uid:	0"},
		"no /proc":                   {"privileges", goodStatus, ""},
		"processes of the host":      {"processes", "13 python3", "1 systemd\n2 a\n3 b\n4 c\n5 d\n6 e\n7 f"},
		"a folder of the host":       {"mounts", "3 1 0:51 /work /work", "3 1 0:51 /home /home"},
		"the runtime can be written": {"mounts", "/usr ro,nosuid", "/usr rw,nosuid"},
		"set-uid works":              {"mounts", "/usr ro,nosuid,nodev", "/usr ro,nodev"},
		"mounts come from the host":  {"mounts", "/usr ro,nosuid,nodev -", "/usr ro,nosuid,nodev master:3 -"},
		"a file of the host is open": {"descriptors", "3 socket:[4]", "3 /var/lib/atelier.db"},
		"a variable of the server":   {"environment", "HOME=/work", "HOME=/work\nDATABASE_URL=x"},
		"a secret in a variable":     {"environment", "HOME=/work", "HOME=planted-secret"},
		"the host's name":            {"host name", "@@ hostname\nsandbox", "@@ hostname\nthe-host"},
		"an interface of the host":   {"network interfaces", "    lo:", "  eth0: 7\n    lo:"},
		"no limit of core dumps":     {"core dumps", "size        1  ", "size        unlimited  "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(goodView(), tt.old, tt.new, 1)
			if text == goodView() {
				t.Fatal("the change did not alter the view")
			}
			if c := named(t, doctor.JudgeView(doctor.ParseView(text), here), tt.check); c.Verdict != doctor.Fail || c.Fix == "" {
				t.Errorf("%+v", c)
			}
		})
	}
	piped := here
	piped.CorePattern = "|/usr/lib/systemd/systemd-coredump"
	if c := named(t, doctor.JudgeView(doctor.ParseView(strings.Replace(goodView(), "size        1                    1", "size        0                    0", 1)), piped), "core dumps"); c.Verdict != doctor.Fail {
		t.Errorf("a limit of 0 does not prevent a helper from receiving core dumps: %+v", c)
	}
	if c := doctor.JudgeGlobals([]byte(`{"reachable":["process"],"environment":[]}`))[0]; c.Verdict != doctor.Fail {
		t.Errorf("%+v", c)
	}
}

func TestSystemCallsCanFail(t *testing.T) {
	t.Parallel()
	right := func(string, bool) int { return -1 }
	if c := doctor.JudgeErrnos(right); c.Verdict != doctor.Pass {
		t.Fatalf("%+v", c)
	}
	tests := map[string]func(string, bool) int{
		"ptrace works":           func(name string, _ bool) int { return map[bool]int{true: 0, false: -1}[name == "ptrace"] },
		"bpf reaches the kernel": func(name string, _ bool) int { return map[bool]int{true: int(unix.EFAULT), false: -1}[name == "bpf"] },
		"nothing is allowed":     func(_ string, control bool) int { return map[bool]int{true: int(unix.EPERM), false: -1}[control] },
	}
	for name, answer := range tests {
		if c := doctor.JudgeErrnos(answer); c.Verdict != doctor.Fail || c.Mechanism != sandbox.Seccomp {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestCanariesCanFail(t *testing.T) {
	t.Parallel()
	const quiet = "file\tits path\trefused\tno\nnetwork\ttcp\trefused\nenvironment\tits own\trefused\tHOME=/work\nother run\tfiles\trefused\nabstract socket\tstream\trefused\n"
	secrets := map[string]string{"file": "in-the-file", "environment": "in-the-environment", "other run": "in-the-other"}
	for _, c := range doctor.JudgeSearch(quiet, doctor.NewFound(secrets, 0)) {
		if c.Verdict != doctor.Pass {
			t.Errorf("%+v", c)
		}
	}
	tests := map[string]struct {
		stdout string
		visits int64
		check  string
	}{
		"a file is reached":              {strings.Replace(quiet, "its path\trefused", "its path\treached", 1), 0, "file"},
		"a secret is printed as refused": {strings.Replace(quiet, "HOME=/work", "X=in-the-environment", 1), 0, "environment"},
		"a listener was visited":         {quiet, 1, "network"},
		"the other run is seen":          {quiet + "other run\tmemory\treached\t1\n", 0, "other run"},
		"an abstract socket is reached":  {quiet + "abstract socket\tdgram\treached\n", 0, "abstract socket"},
		"nothing was tried":              {"", 0, "a search"},
	}
	for name, tt := range tests {
		if c := named(t, doctor.JudgeSearch(tt.stdout, doctor.NewFound(secrets, tt.visits)), tt.check); c.Verdict != doctor.Fail {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestTenantsCanFail(t *testing.T) {
	t.Parallel()
	const apart = "ports\tconnect\trefused\t\nabstract sockets\ta pair\trefused\t\nlocks\tflock\trefused\t\nmaps\tproject ids\trefused\t\n"
	for _, c := range doctor.JudgeTenants(apart, "") {
		if c.Verdict != doctor.Pass {
			t.Errorf("%+v", c)
		}
	}
	for _, place := range []string{"ports", "abstract sockets", "locks", "maps"} {
		for name, c := range map[string]doctor.Check{
			"they meet":          named(t, doctor.JudgeTenants(strings.Replace(apart, place, place+"\tanother\treached\t\n"+place, 1), ""), place+" between workspaces"),
			"nothing was tried":  named(t, doctor.JudgeTenants("", ""), place+" between workspaces"),
			"the program failed": named(t, doctor.JudgeTenants(apart, "oh"), place+" between workspaces"),
		} {
			if c.Verdict != doctor.Fail {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

func TestLimitsCanFail(t *testing.T) {
	t.Parallel()
	ended := func(kind runtimes.ErrorType, after time.Duration) doctor.Trial {
		o := runtimes.Failed(kind, "it ended")
		o.Usage.Run = after
		return doctor.Trial{Outcome: o}
	}
	if c := doctor.JudgeLimitNamed("memory", ended(runtimes.MemoryLimit, time.Second)); c.Verdict != doctor.Pass {
		t.Errorf("%+v", c)
	}
	tests := map[string]struct {
		limit string
		trial doctor.Trial
	}{
		"no limit was reached":    {"memory", doctor.Trial{}},
		"ends with another error": {"memory", ended(runtimes.RuntimeError, time.Second)},
		"too late":                {"wall time", ended(runtimes.Timeout, 2*time.Second)},
		"for another reason":      {"open files", ended(runtimes.RuntimeError, time.Second)},
		"not by processor":        {"CPU time", ended(runtimes.Timeout, time.Second)},
		"the server failed":       {"disk", doctor.Trial{Err: errors.New("oh")}},
		"processes, too late":     {"processes", ended(runtimes.ProcessLimit, 5*time.Second)},
	}
	for name, tt := range tests {
		if c := doctor.JudgeLimitNamed(tt.limit, tt.trial); c.Verdict != doctor.Fail || c.Fix == "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestRemainsCanFail(t *testing.T) {
	t.Parallel()
	seen := []doctor.Sighting{doctor.NewSighting(7, goodStatus, "/sys/fs/cgroup/atelier-1/j1")}
	if c := doctor.JudgeRemains(runtimes.Bash, doctor.Trialled(nil), seen, nil, time.Millisecond); c.Verdict != doctor.Pass {
		t.Errorf("%+v", c)
	}
	for name, c := range map[string]doctor.Check{
		"a process is left":   doctor.JudgeRemains(runtimes.Bash, doctor.Trialled(nil), seen, seen, time.Millisecond),
		"no process was seen": doctor.JudgeRemains(runtimes.Bash, doctor.Trialled(nil), nil, nil, time.Millisecond),
		"the run failed":      doctor.JudgeRemains(runtimes.Bash, doctor.Trialled(errors.New("oh")), seen, nil, time.Millisecond),
		"root on the host":    doctor.JudgeIdentity(runtimes.Bash, []doctor.Sighting{doctor.NewSighting(7, strings.ReplaceAll(goodStatus, "200001", "0"))}, 0),
		"the server's user":   doctor.JudgeIdentity(runtimes.Bash, seen, 200001),
		"capabilities":        doctor.JudgeIdentity(runtimes.Bash, []doctor.Sighting{doctor.NewSighting(7, strings.ReplaceAll(goodStatus, "CapPrm:	0", "CapPrm:	1"))}, 0),
		"nobody was seen":     doctor.JudgeIdentity(runtimes.Bash, nil, 0),
	} {
		if c.Verdict != doctor.Fail {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := doctor.JudgeIdentity(runtimes.Bash, seen, 0); c.Verdict != doctor.Pass {
		t.Errorf("%+v", c)
	}
}

func TestCrashesCanFail(t *testing.T) {
	t.Parallel()
	crashed := doctor.Trial{Outcome: runtimes.Failed(runtimes.RuntimeError, "SIGSEGV")}
	if c := doctor.JudgeCrash(crashed, ""); c.Verdict != doctor.Pass {
		t.Errorf("%+v", c)
	}
	for name, c := range map[string]doctor.Check{
		"nothing crashed":   doctor.JudgeCrash(doctor.Trial{}, ""),
		"the next fails":    doctor.JudgeCrash(crashed, "oh"),
		"the server failed": doctor.JudgeCrash(doctor.Trial{Err: errors.New("oh")}, ""),
		"it hangs":          doctor.JudgeCrash(doctor.Trial{Outcome: runtimes.Failed(runtimes.Timeout, "")}, ""),
	} {
		if c.Verdict != doctor.Fail {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestSlowStartIsReduced(t *testing.T) {
	t.Parallel()
	slow := []time.Duration{3 * time.Second}
	if c := doctor.JudgeSpeed(slow, slow); c.Verdict != doctor.Reduced || c.Fix == "" {
		t.Errorf("%+v", c)
	}
}

// TestEgressChecksCanFail checks that the HTTP checks fail for a server that accepts every request, and for a server
// that does not exist.
func TestEgressChecksCanFail(t *testing.T) {
	t.Parallel()
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {}))
	t.Cleanup(open.Close)
	for name, server := range map[string]string{"open": open.URL, "absent": "http://127.0.0.1:1"} {
		report := doctor.New(doctor.Options{Box: box(sandbox.LevelFull), Server: server, Only: []doctor.Group{doctor.HTTP}, Look: goodFacts}).Full(t.Context())
		for _, c := range report.Checks {
			if c.Group != doctor.HTTP || name == "open" && c.Name == "the correct host name" {
				continue
			}
			if name == "open" && c.Name == "skills without a token" { // only reduced, because the operator may have chosen it
				if c.Verdict != doctor.Reduced || c.Fix == "" {
					t.Errorf("%+v", c)
				}
				continue
			}
			if c.Verdict != doctor.Fail || c.Fix == "" {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if report.Verdict != doctor.Fail || report.Failed < 9 {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

// box is a sandbox with a level that cannot run programs.
type box string

func (b box) Level() sandbox.Level { return sandbox.Level{Level: string(b)} }
func (b box) Host() sandbox.Host   { return goodHost() }
func (b box) Prepare(context.Context, sandbox.Profile) (*sandbox.Jail, error) {
	return nil, errors.New("this test has no sandboxes")
}

// TestNothingProved checks that a report without checks fails.
func TestNothingProved(t *testing.T) {
	t.Parallel()
	if r := doctor.New(doctor.Options{Box: box(sandbox.LevelFull)}).Quick(t.Context()); r.Verdict != doctor.Fail {
		t.Errorf("%+v", r)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if r := doctor.New(doctor.Options{Box: box(sandbox.LevelFull), Look: goodFacts}).Full(over); r.Verdict != doctor.Fail {
		t.Errorf("%+v", r)
	}
}
