package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

// TestHostileUsr lists the directories of /usr in a jail. Settings of programs, such as the tokens in /usr/local/etc,
// must not be there.
func TestHostileUsr(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	for dir, needed := range map[string]string{"/usr": "lib", "/usr/local": "bin", "/usr/share": "zoneinfo"} {
		seen := p.do(t, request{Do: "list", Path: dir}).List
		if _, err := os.Stat(filepath.Join(dir, needed)); err == nil && !slices.Contains(seen, needed) {
			t.Errorf("%s does not have %s: %v", dir, needed, seen)
		}
		for _, name := range []string{"etc", "src", "include", "games", "man", "doc"} {
			if slices.Contains(seen, name) {
				t.Errorf("a program sees %s/%s", dir, name)
			}
		}
	}
	for _, path := range []string{"/usr/local/etc/npmrc", "/usr/etc/npmrc", "/usr/lib/../local/etc", "/usr/bin/../etc"} {
		if got := p.do(t, request{Do: "read", Path: path}); got.Error == "" || got.Text != "" {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// TestHostilePrivateFiles mounts a directory with files that only their owner may read. A program must not read them,
// even if the server is an ordinary user and the program therefore runs as the owner.
func TestHostilePrivateFiles(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/tmp", "atelier-private-") // jails of a server that is root enter it as another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	secret, closed, public := filepath.Join(dir, "secret"), filepath.Join(dir, "closed"), filepath.Join(dir, "public")
	err = errors.Join(os.Chmod(dir, 0o755),
		os.WriteFile(secret, []byte("secret"), 0o600), os.WriteFile(public, []byte("public"), 0o644),
		os.Mkdir(closed, 0o700), os.WriteFile(filepath.Join(closed, "file"), []byte("secret"), 0o644), os.Symlink("secret", filepath.Join(dir, "link")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, launcher := range map[string]string{"one jail": "", "child of a launcher": "private"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := program(limits())
			profile.Mounts = append(profile.Mounts, sandbox.Mount{Host: dir, Path: "/files"})
			const script = `cat /files/public; cat /files/secret /files/link /files/closed/file; ls /files/closed
				chmod 644 /files/secret; chmod 755 /files/closed; umount /files/secret; cat /files/secret /files/closed/file`
			var said string
			if launcher == "" {
				said = jail(t, newBox(t), profile).bash(t, script).Text
			} else {
				profile.Launcher = launcher
				said = newChildOf(t, sandboxtest.New(t, guestsExe(t)), profile).begin(t, "{ "+script+"; } 2>&1 | tr '\\n' ' '")
			}
			if !strings.Contains(said, "public") || strings.Contains(strings.ReplaceAll(said, "files/secret", ""), "secret") {
				t.Errorf("a program read %q", said)
			}
		})
	}
}

// TestHostileLocks checks that a program cannot lock files of the host, because such locks would block programs of the
// host and of other workspaces. It can lock its own files, which databases need.
func TestHostileLocks(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	got := p.python(t, `
import fcntl, sqlite3
def attempt(name, do):
    try: do(); print(name, "worked")
    except OSError as e: print(name, e.strerror)
attempt("usr", lambda: fcntl.flock(open("/usr/bin/env"), fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt("device", lambda: fcntl.flock(open("/dev/null"), fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt("exclusive", lambda: fcntl.lockf(open("/usr/bin/env"), fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt("own", lambda: fcntl.lockf(open("/work/own", "w"), fcntl.LOCK_EX | fcntl.LOCK_NB))
db = sqlite3.connect("/work/db")
db.execute("create table t(x)"); db.commit()
print("database", db.execute("select count(*) from t").fetchone()[0])
`)
	want := "usr Function not implemented\ndevice Function not implemented\nexclusive Bad file descriptor\nown worked\ndatabase 0\n"
	if got.Text != want {
		t.Errorf("the program wrote\n%s", got.Text)
	}
}
