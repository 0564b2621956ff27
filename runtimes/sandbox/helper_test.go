package sandbox_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

// hostileVar and guestsVar are environment variables with the paths of binaries that are already built. A test process
// whose user cannot build uses them.
const (
	hostileVar = "ATELIER_TEST_HOSTILE"
	guestsVar  = "ATELIER_TEST_GUESTS"
)

// guestsExe returns the path of the binary with the roles that the product uses.
func guestsExe(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(guestsVar); path != "" {
		return path
	}
	return sandboxtest.Exe(t)
}

func hostileExe(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(hostileVar); path != "" {
		return path
	}
	return sandboxtest.Build(t, sandboxtest.Hostile)
}

func newBox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	return sandboxtest.New(t, hostileExe(t))
}

// request and answer are the messages of the hostile binary.
type request struct {
	Do     string     `json:"do"`
	Path   string     `json:"path,omitempty"`
	Bytes  int        `json:"bytes,omitempty"`
	Argv   []string   `json:"argv,omitempty"`
	Number uintptr    `json:"number,omitempty"`
	Args   [6]uintptr `json:"args,omitempty"`
}

type answer struct {
	Errno int      `json:"errno"`
	Error string   `json:"error"`
	Text  string   `json:"text"`
	List  []string `json:"list"`
	Code  int      `json:"code"`
}

// prisoner is a jail that runs the hostile role, with the connection to it.
type prisoner struct {
	*sandbox.Jail
	in  *frames.Reader
	out *frames.Writer
}

func limits() runtimes.Limits {
	limits := runtimes.DefaultLimits()
	limits.MemoryBytes, limits.DiskBytes = 64<<20, 8<<20
	return limits
}

func program(l runtimes.Limits) sandbox.Profile {
	return sandbox.Profile{
		Role: "program", Filter: sandbox.FilterProgram, Mounts: []sandbox.Mount{{Host: "/usr", Path: "/usr"}}, Limits: l, Proc: true,
	}
}

func worker(l runtimes.Limits) sandbox.Profile {
	return sandbox.Profile{Role: "worker", Filter: sandbox.FilterWorker, Limits: l}
}

// jail prepares a jail. At the end of the test it checks that no process or control group of the jail is left.
func jail(t *testing.T, box *sandbox.Sandbox, profile sandbox.Profile) *prisoner {
	t.Helper()
	j, err := box.Prepare(t.Context(), profile)
	if err != nil {
		t.Fatal(err)
	}
	p := &prisoner{Jail: j, in: frames.NewReader(j.Conn(), map[frames.Kind]int{frames.Done: 1 << 20}), out: frames.NewWriter(j.Conn())}
	t.Cleanup(func() { p.end(t) })
	return p
}

// end kills the jail and checks that no process or control group of it is left on the host.
func (p *prisoner) end(t *testing.T) sandbox.Exit {
	t.Helper()
	members := p.members()
	p.Kill()
	exit := p.Wait()
	for _, pid := range members {
		if state := stateOf(pid); state != "" {
			t.Errorf("process %s is left in state %s", pid, state)
		}
	}
	for _, dir := range p.Groups() {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			t.Errorf("control group %s is left: %v", dir, err)
		}
	}
	return exit
}

// members returns the processes of the jail on the host, with their start times, because process IDs are reused.
func (p *prisoner) members() []string {
	if !p.counted() {
		return nil
	}
	text, _ := os.ReadFile(p.Groups()[0] + "/cgroup.procs")
	return strings.Fields(string(text))
}

// stateOf returns "" for a process that is gone or in no jail.
func stateOf(pid string) string {
	line, err := os.ReadFile("/proc/" + pid + "/cgroup")
	if err != nil || !strings.Contains(string(line), "/atelier-") {
		return ""
	}
	return string(line)
}

func (p *prisoner) send(t *testing.T, r request) {
	t.Helper()
	if err := p.out.WriteJSON(frames.Job, r); err != nil {
		t.Fatal(err)
	}
}

func (p *prisoner) receive(t *testing.T) (answer, error) {
	t.Helper()
	_, payload, err := p.in.Read()
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal(payload, &a); err != nil {
		t.Fatal(err)
	}
	return a, nil
}

// do sends a request and waits for the answer.
func (p *prisoner) do(t *testing.T, r request) answer {
	t.Helper()
	p.send(t, r)
	a, err := p.receive(t)
	if err != nil {
		p.Kill()
		t.Fatalf("%s: %v; the jail ended with %+v", r.Do, err, p.Wait())
	}
	return a
}

// attack runs a Python attack that may end the jail.
func (p *prisoner) attack(t *testing.T, syscallProgram string) answer {
	t.Helper()
	p.send(t, request{Do: "run", Argv: []string{"/usr/bin/python3", "-I", "-S", "-c", syscallProgram}})
	a, err := p.receive(t)
	if err != nil {
		<-p.Done()
	}
	return a
}

// counted reports whether a control group measures the jail's usage. Without one, the type watch samples the usage and
// misses short peaks.
func (p *prisoner) counted() bool { return len(p.Groups()) > 0 }

// run runs a program in the jail.
func (p *prisoner) run(t *testing.T, argv ...string) answer {
	t.Helper()
	return p.do(t, request{Do: "run", Argv: argv})
}

func (p *prisoner) bash(t *testing.T, syscallProgram string) answer {
	t.Helper()
	return p.run(t, "/usr/bin/bash", "--norc", "--noprofile", "-c", syscallProgram)
}

func (p *prisoner) python(t *testing.T, syscallProgram string) answer {
	t.Helper()
	return p.run(t, "/usr/bin/python3", "-I", "-S", "-c", syscallProgram)
}
