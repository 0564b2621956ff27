package hostile_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes/hostile"
)

// parserVar makes this test binary run a parser without a sandbox. controls_test.go uses it.
const parserVar = "ATELIER_TEST_PARSER"

// secretVar is a variable in the environment of this process. It stands for the secrets in the environment of a server.
const secretVar = "ATELIER_TEST_SECRET"

const secret = "0f3c9a51-of-the-house"

// matrix counts the results of all tests of this package. It is printed after them.
var matrix = hostile.NewMatrix()

func TestMain(m *testing.M) {
	if name := os.Getenv(parserVar); name != "" {
		parse(name)
		os.Exit(0)
	}
	if err := os.Setenv(secretVar, secret); err != nil {
		panic(err)
	}
	if os.Getenv(guestsVar) != "" {
		syscall.CloseOnExec(3) // no sandbox may inherit it
	}
	code := m.Run()
	if os.Getenv(guestsVar) != "" {
		os.Exit(max(code, leftByOrdinaryUser()))
	}
	if !matrix.Empty() {
		for _, what := range strangers() {
			matrix.Survivor(what)
		}
		for _, what := range groupsOf(os.Getpid()) {
			matrix.Survivor("control group " + what)
		}
		out := audience()
		matrix.Print(out)
		touchFresh()
	}
	if matrix.Survivors() > 0 && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// leftByOrdinaryUser reports the processes and mounts that remain in the process of the ordinary user, and returns its
// exit code.
func leftByOrdinaryUser() (code int) {
	for _, what := range strangers() {
		tell(finding{Survivor: what})
		code = 1
	}
	return code
}

// audience returns the writer for the matrix, which must always be visible. Without -v the go command hides the output
// of a passing package. So the matrix is written to the output of the go command itself, if that is a terminal or a
// pipe.
func audience() io.Writer {
	if testing.Verbose() || flag.Lookup("test.v").Value.String() == "test2json" {
		return os.Stdout
	}
	parent := strconv.Itoa(os.Getppid())
	name, err := os.ReadFile("/proc/" + parent + "/comm")
	if err != nil || strings.TrimSpace(string(name)) != "go" {
		return os.Stdout
	}
	path := "/proc/" + parent + "/fd/1"
	info, err := os.Stat(path)
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeCharDevice) == 0 {
		return os.Stdout
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return os.Stdout
	}
	return out
}

// fresh is a file that the tests read. Its time is changed after the tests, so that the go command does not cache their
// result. A cached result would print no matrix and would not apply to the current machine.
var fresh = filepath.Join("testdata", "fresh")

func readFresh() {
	if f, err := os.Open(fresh); err == nil {
		_ = f.Close()
	}
}

func touchFresh() {
	now := time.Now()
	_ = os.Chtimes(fresh, now, now) // in a read-only tree the result may be cached
}

func parse(name string) {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	debug.SetMaxStack(64 << 20) // the result is the same at 1 GB, but other processes need the memory
	parsers[name](string(text))
}
