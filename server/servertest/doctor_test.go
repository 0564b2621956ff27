package servertest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/server/servertest"
)

// The self-test of an ordinary user reports checks that need root as reduced. No check fails or is missing.
func TestDoctorOfAnOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is the ordinary user")
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), servertest.Binary(t), "doctor", "--json")
	cmd.Dir, cmd.Env = "/tmp", []string{"TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // The exit code reports the result of the checks.
	var report struct {
		doctor.Report
		Start struct{ Verdict doctor.Verdict }
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.Bytes(), errs.Bytes())
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 || report.Verdict != doctor.Reduced || report.Failed > 0 || report.Passed < 90 || report.Start.Verdict != doctor.Pass {
		t.Errorf("exit %d, %s, %d passed, %d reduced, %d failed, at the start %s", code, report.Verdict, report.Passed, report.Reduced, report.Failed, report.Start.Verdict)
	}
	if !strings.Contains(report.Level, "users") {
		t.Errorf("the level is %s", report.Level)
	}
	groups := map[doctor.Group]bool{}
	for _, c := range report.Checks {
		groups[c.Group] = true
		if c.Verdict != doctor.Pass && c.Fix == "" || c.Verdict == doctor.Fail || c.Evidence == "" {
			t.Errorf("%+v", c)
		}
	}
	for _, group := range doctor.Groups() {
		if !groups[group] {
			t.Errorf("nothing is said about %s", group)
		}
	}
}

// The self-test command finds the running server, also accepts another address, and exits according to the verdict.
func TestDoctorTriesEgress(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	running := servertest.Spawn(t, data)
	before := strings.Count(running.Log.String(), "bad_host")
	said := servertest.Command(t, "", "doctor", "--only=http", "--data", data)
	if said.Code == 2 || !strings.Contains(said.Stdout, "403 bad_host") || !strings.Contains(said.Stdout, "403 bad_origin") {
		t.Errorf("exit %d\n%s%s", said.Code, said.Stdout, said.Stderr)
	}
	servertest.Eventually(t, "the running server was tried", func() bool { return strings.Count(running.Log.String(), "bad_host") > before })
	if said := servertest.Command(t, "", "doctor", "--only=http", "--server", "http://127.0.0.1:1", "--node", "/nowhere/node"); said.Code != 2 || !strings.Contains(said.Stdout, "Failed:") {
		t.Errorf("a server that is not there: exit %d\n%s", said.Code, said.Stdout)
	}
	if said := servertest.Command(t, "", "doctor", "--only=teeth"); said.Code != 2 || said.Stdout != "" || !strings.Contains(said.Stderr, "teeth") {
		t.Errorf("exit %d, %s%s", said.Code, said.Stdout, said.Stderr)
	}
}

// If a required mechanism is missing, the server runs no program, and the error names the flag that allows this. With
// the flag, the server runs programs and reports everywhere that the sandbox is weaker.
func TestServerOnAWeakHost(t *testing.T) {
	t.Parallel()
	program := map[string]any{"language": "bash", "code": "echo 1", "input": map[string]any{}}
	const token = "a-token-of-more-than-24-characters"
	const flag = "--allow-weak-sandbox=seccomp"

	refusing := servertest.Spawn(t, filepath.Join(t.TempDir(), "data"), "--token", token, "--mask-sandbox=seccomp")
	refusing.Token = token
	if p := refusing.Want(t, 503, http.MethodPost, "/api/v1/execute", program).Problem(t); p.Code != "sandbox_unavailable" || !strings.Contains(p.Detail, flag) {
		t.Errorf("%+v", p)
	}
	for _, path := range []string{"/health", "/api/v1/capabilities"} {
		if text := string(refusing.Want(t, 200, http.MethodGet, path, nil).Body); !strings.Contains(text, `"level":"none"`) || !strings.Contains(text, flag) {
			t.Errorf("%s: %s", path, text)
		}
	}
	refusing.Want(t, 503, http.MethodGet, "/ready", nil)
	if !strings.Contains(refusing.Log.String(), "WARNING") || !strings.Contains(refusing.Log.String(), flag) {
		t.Errorf("the start does not tell:\n%s", refusing.Log)
	}

	weak := servertest.Spawn(t, filepath.Join(t.TempDir(), "data"), "--token", token, "--mask-sandbox=seccomp", flag)
	weak.Token = token
	if run := weak.Want(t, 200, http.MethodPost, "/api/v1/execute", program).Run(t); !run.Success || !strings.Contains(run.Provenance.Isolation, "reduced(seccomp") {
		t.Errorf("%+v", run)
	}
	for _, path := range []string{"/health", "/api/v1/capabilities"} {
		if text := string(weak.Want(t, 200, http.MethodGet, path, nil).Body); !strings.Contains(text, `"level":"reduced"`) || !strings.Contains(text, "System calls are not filtered") {
			t.Errorf("%s: %s", path, text)
		}
	}
	if !strings.Contains(weak.Log.String(), "WARNING: System calls are not filtered") {
		t.Errorf("the start does not tell:\n%s", weak.Log)
	}
	for _, flags := range [][]string{{"--allow-weak-sandbox=namespaces"}, {"--mask-sandbox=users"}} {
		if said := servertest.Command(t, "", append([]string{"serve"}, flags...)...); said.Code != 2 || !strings.Contains(said.Stderr, "must be") {
			t.Errorf("%v: exit %d, %s", flags, said.Code, said.Stderr)
		}
	}
}
