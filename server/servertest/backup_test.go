package servertest_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/servertest"
)

const backupToken = "a-token-that-is-long-enough-to-be-one"

// databaseFlags returns the flags that select a new database. For SQLite in the data directory it returns none.
func databaseFlags(t *testing.T, d storetest.Dialect) []string {
	t.Helper()
	if d == storetest.SQLite {
		return nil
	}
	return []string{"--database", storetest.Options(t, storetest.Postgres).URL}
}

// large is the source of a version whose files are outside the database.
func large() string { return "export default () => 'large'\n// " + strings.Repeat("x", 150_000) + "\n" }

// workedOn starts a server and creates agents, versions, a secret and a run. It returns the ID of the run.
func workedOn(t *testing.T, data string, database []string) (*servertest.Process, string) {
	t.Helper()
	p := servertest.Spawn(t, data, append([]string{"--token", backupToken, "--skills-builtin=false"}, database...)...)
	p.Token = backupToken
	p.Want(t, 200, "PUT", "/api/v1/secrets/KEY", map[string]string{"value": strings.Repeat("y", 77)})
	p.Create(t, map[string]any{"name": "measure", "language": "javascript", "secrets": []string{"KEY"}, "code": "export default (_, ctx) => ctx.env.KEY.length"})
	p.Publish(t, "measure", "1.0.0")
	p.Create(t, map[string]any{"name": "big", "language": "javascript", "code": large()})
	p.Publish(t, "big", "1.0.0")
	return p, p.Execute(t, "measure", "1.0.0", map[string]any{}).RunID
}

// saidOK runs a command that must succeed.
func saidOK(t *testing.T, args ...string) servertest.Said {
	t.Helper()
	said := servertest.Command(t, "", args...)
	if said.Code != 0 {
		t.Fatalf("atelier %v: exit %d: %s", args, said.Code, said.Stderr)
	}
	return said
}

// TestRestoreDrill makes a backup of a busy server, kills the server, and restores the backup elsewhere. The restored
// server must work. It must have everything that was acknowledged before the backup began.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			data, database := t.TempDir(), databaseFlags(t, d)
			p, before := workedOn(t, data, database)
			stop, first := make(chan struct{}), make(chan struct{})
			var group sync.WaitGroup
			group.Go(func() {
				for n := 0; ; n++ {
					p.Execute(t, "big", "1.0.0", map[string]any{})
					if n == 0 {
						close(first)
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
			<-first
			dir, keys := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "keys")
			said := saidOK(t, append([]string{"backup", "create", dir, "--keys", keys, "--data", data}, database...)...)
			close(stop)
			group.Wait()
			if !strings.HasPrefix(said.Stdout, "saved 2 agents, 2 versions, ") || !strings.Contains(said.Stdout, "1 secret ") {
				t.Errorf("printed %q, %q", said.Stdout, said.Stderr)
			}
			p.Signal(t, syscall.SIGKILL)
			p.Exit()

			if said := saidOK(t, "backup", "verify", dir); !strings.HasPrefix(said.Stdout, "verified 2 agents, ") {
				t.Errorf("printed %q", said.Stdout)
			}
			restored, empty := filepath.Join(t.TempDir(), "data"), databaseFlags(t, d)
			saidOK(t, append([]string{"backup", "restore", dir, "--keys", keys, "--data", restored}, empty...)...)
			again := servertest.Spawn(t, restored, append([]string{"--token", backupToken}, empty...)...)
			again.Token = backupToken
			if run := again.Get(t, before); run.Status != "succeeded" || string(run.Output) != "77" {
				t.Errorf("the run is %+v", run)
			}
			if run := again.Execute(t, "measure", "1.0.0", map[string]any{}); string(run.Output) != "77" {
				t.Errorf("with the secret: %s %+v", run.Output, run.Error)
			}
			if run := again.Execute(t, "big", "1.0.0", map[string]any{}); string(run.Output) != `"large"` {
				t.Errorf("of large files: %s %+v", run.Output, run.Error)
			}
			again.Publish(t, "measure", "1.0.1")
		})
	}
}

// TestBackup_Damaged_Refused damages a backup in many ways. Verifying and restoring must fail each time.
func TestBackup_Damaged_Refused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p, _ := workedOn(t, data, nil)
	dir := filepath.Join(t.TempDir(), "backup")
	saidOK(t, "backup", "create", dir, "--data", data)
	p.Signal(t, syscall.SIGTERM)
	p.Exit()
	blob, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*"))
	if err != nil || len(blob) != 1 {
		t.Fatal(blob, err)
	}
	database, manifest := filepath.Join(dir, "database", "atelier.db"), filepath.Join(dir, "manifest.json")
	for name, tt := range map[string]struct {
		path   string
		damage func(content []byte) []byte // returns the damaged content; nil removes the file
		want   string
	}{
		"a flipped bit":       {database, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, "atelier.db is damaged"},
		"a short file":        {database, func(b []byte) []byte { return b[:len(b)/2] }, "atelier.db is damaged"},
		"no database":         {database, nil, "atelier.db is missing"},
		"no files of version": {blob[0], nil, "is missing"},
		"no manifest":         {manifest, nil, "is not a complete backup"},
		"another format":      {manifest, func(b []byte) []byte { return []byte(strings.Replace(string(b), `"format": 1`, `"format": 2`, 1)) }, "has format 2"},
		"a path outside": {manifest, func(b []byte) []byte {
			return []byte(strings.Replace(string(b), `"path": "database/atelier.db"`, `"path": "../atelier.db"`, 1))
		}, "outside the backup"},
		"other counts":       {manifest, func(b []byte) []byte { return []byte(strings.Replace(string(b), `"agents": 2`, `"agents": 3`, 1)) }, "describes another database"},
		"an additional file": {filepath.Join(dir, "more"), func([]byte) []byte { return []byte("x") }, "more is not in the manifest"},
	} {
		before, err := os.ReadFile(tt.path)
		if err != nil && name != "an additional file" {
			t.Fatal(err)
		}
		if tt.damage == nil {
			err = os.Remove(tt.path)
		} else {
			err = os.WriteFile(tt.path, tt.damage(append([]byte(nil), before...)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		restored := filepath.Join(t.TempDir(), "data")
		for _, args := range [][]string{{"backup", "verify", dir}, {"backup", "restore", dir, "--data", restored}} {
			if said := servertest.Command(t, "", args...); said.Code != 1 || !strings.Contains(said.Stderr, tt.want) {
				t.Errorf("%s: %v: exit %d, no %q in %q", name, args[:2], said.Code, tt.want, said.Stderr)
			}
		}
		if _, err := os.Stat(restored); err == nil {
			t.Errorf("%s: something was restored", name)
		}
		if before == nil {
			err = os.Remove(tt.path)
		} else {
			err = os.WriteFile(tt.path, before, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	saidOK(t, "backup", "verify", dir)
	latest := filepath.Join(t.TempDir(), "latest")
	if err := os.Symlink(dir, latest); err != nil {
		t.Fatal(err)
	}
	saidOK(t, "backup", "verify", latest)
}

// TestBackup_WrongPlace_Refused checks that neither a backup nor a restore overwrites anything.
func TestBackup_WrongPlace_Refused(t *testing.T) {
	t.Parallel()
	data, home := t.TempDir(), t.TempDir()
	p, _ := workedOn(t, data, nil)
	dir, keys := filepath.Join(home, "backup"), filepath.Join(home, "keys")
	saidOK(t, "backup", "create", dir, "--data", data, "--keys", keys)
	p.Signal(t, syscall.SIGTERM)
	p.Exit()
	other := filepath.Join(home, "other.key")
	if err := os.WriteFile(other, []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	interrupted := filepath.Join(home, "interrupted")
	if err := os.Mkdir(interrupted, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(interrupted, "restoring"), []byte(filepath.Join(interrupted, "atelier.db")), 0o600); err != nil {
		t.Fatal(err)
	}
	used := filepath.Join(home, "used.db")
	if err := os.WriteFile(used, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	logged := filepath.Join(home, "logged.db")
	if err := os.WriteFile(logged+"-wal", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh := func() string { return filepath.Join(t.TempDir(), "data") }
	for want, args := range map[string][]string{
		"is not empty; choose a new one\n":               {"backup", "create", dir, "--data", data},
		"there is no database to back up":                {"backup", "create", filepath.Join(home, "new"), "--data", fresh()},
		"is inside the backup":                           {"backup", "create", filepath.Join(home, "in"), "--data", data, "--keys", filepath.Join(home, "in", "keys")},
		"exists; choose a new file":                      {"backup", "create", filepath.Join(home, "in"), "--data", data, "--keys", keys},
		"is not empty; choose a new one with --data":     {"backup", "restore", dir, "--data", data},
		"exists; choose a new one with --database":       {"backup", "restore", dir, "--data", fresh(), "--database", "sqlite:" + used},
		"logged.db-wal already exists; choose a new one": {"backup", "restore", dir, "--data", fresh(), "--database", "sqlite:" + logged},
		"of the same kind":                               {"backup", "restore", dir, "--data", fresh(), "--database", "postgres://127.0.0.1:1/none"},
		"does not contain the key":                       {"backup", "restore", dir, "--data", fresh(), "--keys", other},
		"restore of a backup into " + interrupted:        {"serve", "--data", interrupted, "--listen", "127.0.0.1:0"},
	} {
		if said := servertest.Command(t, "", args...); said.Code != 1 || !strings.Contains(said.Stderr, want) {
			t.Errorf("%v: exit %d, no %q in %q", args, said.Code, want, said.Stderr)
		}
	}
	// An interrupted restore of another backup has left a database and its write-ahead log. The next restore must replace
	// both.
	q := servertest.Spawn(t, t.TempDir(), "--token", backupToken, "--skills-builtin=false", "--database", "sqlite:"+filepath.Join(home, "foreign.db"))
	q.Token = backupToken
	q.Create(t, map[string]any{"name": "foreign", "language": "javascript", "code": "export default () => 1"})
	q.Signal(t, syscall.SIGKILL)
	q.Exit()
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Rename(filepath.Join(home, "foreign.db"+suffix), filepath.Join(interrupted, "atelier.db"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	saidOK(t, "backup", "restore", dir, "--data", interrupted, "--keys", keys) // Repeat the interrupted restore.
	again := servertest.Spawn(t, interrupted, "--token", backupToken)
	again.Token = backupToken
	if run := again.Execute(t, "measure", "1.0.0", map[string]any{}); string(run.Output) != "77" {
		t.Errorf("after the repeated restore: %s %+v", run.Output, run.Error)
	}
	if text, err := os.ReadFile(used); err != nil || string(text) != "mine" {
		t.Errorf("another file was overwritten: %q, %v", text, err)
	}
}
