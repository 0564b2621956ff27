package hostile_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/hostile"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

// guestsVar is the path of a worker binary. A process in which it is set runs as an ordinary user, cannot build the
// binary, and reports its findings on descriptor 3.
const guestsVar = "ATELIER_TEST_GUESTS"

// finding is a line from the process of the ordinary user.
type finding struct {
	Class    hostile.Class `json:"class,omitempty"`
	Held     bool          `json:"held,omitempty"`
	Survivor string        `json:"survivor,omitempty"`
}

// nobody is the ID of an ordinary user that every Linux has.
const nobody = 65534

func guests(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(guestsVar); path != "" {
		return path
	}
	return sandboxtest.Exe(t)
}

// TestHostileAsOrdinaryUser repeats the essential attacks in a process of an unprivileged user. The process has no host
// users for sandboxes, and only the cgroups that it is given.
func TestHostileAsOrdinaryUser(t *testing.T) {
	if os.Getenv(guestsVar) != "" {
		essentials(t)
		return
	}
	t.Parallel()
	if os.Geteuid() != 0 {
		const why = "only root can become another user; all other tests already ran as an ordinary user"
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	readFresh()
	dir, err := os.MkdirTemp("/tmp", "atelier-hostile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// cp copies the files, because a program that is open for writing cannot be executed. If this process wrote them,
	// another test could fork while the file is open, and the child would keep it open.
	for from, to := range map[string]string{guests(t): "guests", self: "tests"} {
		if text, err := exec.Command("cp", from, filepath.Join(dir, to)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("chmod", "-R", "a+rX", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	told, tell, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "tests"), "-test.v", "-test.run=^TestHostileAsOrdinaryUser$", "-test.timeout=400s")
	cmd.Dir, cmd.ExtraFiles = dir, []*os.File{tell}
	cmd.Env = []string{guestsVar + "=" + filepath.Join(dir, "guests"), "PATH=/usr/bin:/bin", "TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	counted := make(chan int)
	go func() { counted <- listen(told) }()
	text, err := cmd.CombinedOutput()
	_ = tell.Close() // ends the loop of listen
	n := <-counted
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	if n == 0 {
		t.Errorf("nothing was counted:\n%s", text)
	}
	t.Logf("%d cases as user %d", n, nobody)
}

// listen adds the findings of the other process to the matrix, and returns their number.
func listen(told io.ReadCloser) int {
	defer told.Close()
	n := 0
	for lines := bufio.NewScanner(told); lines.Scan(); {
		var f finding
		if json.Unmarshal(lines.Bytes(), &f) != nil {
			continue
		}
		if f.Survivor != "" {
			matrix.Survivor("ordinary user: " + f.Survivor)
			continue
		}
		matrix.Ordinary(f.Class, f.Held)
		n++
	}
	return n
}

// tell writes a finding to descriptor 3, for the process that counts.
func tell(f finding) {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	if _, err := syscall.Write(3, append(text, '\n')); err != nil {
		panic(err)
	}
}

// essentials runs the attacks that inspect the environment and the first attack of each class, one server after
// another.
func essentials(t *testing.T) {
	for _, one := range []struct {
		language runtimes.Language
		attacks  []attack
	}{{runtimes.JavaScript, javascript()}, {runtimes.Python, pythonAttacks()}, {runtimes.Bash, bashAttacks()}} {
		t.Run(string(one.language), func(t *testing.T) {
			h := open(t, one.language, 0)
			var seen []hostile.Class
			for _, a := range one.attacks {
				if a.file == "" && slices.Contains(seen, a.class) {
					continue
				}
				seen = append(seen, a.class)
				t.Run(string(a.class)+"/"+a.name, func(t *testing.T) {
					defer func() { tell(finding{Class: a.class, Held: !t.Failed()}) }()
					h.suffer(t, a)
					h.hello(t)
					h.noRemains(t)
				})
			}
		})
	}
}
