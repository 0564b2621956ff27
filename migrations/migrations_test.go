package migrations_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/migrations"
)

var name = regexp.MustCompile(`^(\d{14})_([a-z]+(?:_[a-z0-9]+)+)\.tx\.(up|down)\.sql$`)

// stamps maps each timestamp of a dialect to its subject, and reports invalid file names.
func stamps(t *testing.T, dialect string) map[string]string {
	t.Helper()
	files, err := fs.ReadDir(migrations.Files, dialect)
	if err != nil {
		t.Fatal(err)
	}
	subjects, directions := map[string]string{}, map[string][]string{}
	for _, file := range files {
		parts := name.FindStringSubmatch(file.Name())
		if parts == nil {
			t.Errorf("%s/%s is not named YYYYMMDDHHMMSS_verb_noun.tx.up.sql or .tx.down.sql", dialect, file.Name())
			continue
		}
		stamp, subject, direction := parts[1], parts[2], parts[3]
		if other, ok := subjects[stamp]; ok && other != subject {
			t.Errorf("%s: %s and %s have the same timestamp %s", dialect, other, subject, stamp)
		}
		subjects[stamp] = subject
		directions[stamp] = append(directions[stamp], direction)
	}
	for stamp, found := range directions {
		if slices.Sort(found); !slices.Equal(found, []string{"down", "up"}) {
			t.Errorf("%s: %s_%s has only %v", dialect, stamp, subjects[stamp], found)
		}
	}
	return subjects
}

func TestMigrationsHaveUniqueStampsAndBothDirectionsInBothDialects(t *testing.T) {
	t.Parallel()
	sqlite, postgres := stamps(t, "sqlite"), stamps(t, "postgres")
	if len(sqlite) == 0 || !maps.Equal(sqlite, postgres) {
		t.Errorf("the dialects differ: %v and %v", sqlite, postgres)
	}
}

// TestMigrationsAreNeverEdited checks that merged migrations are unchanged. A database runs each file once, so a later
// edit would reach only new databases. merged.sha256 has the format of sha256sum.
func TestMigrationsAreNeverEdited(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("merged.sha256")
	if err != nil {
		t.Fatal(err)
	}
	merged := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		merged[file] = sum
	}
	err = fs.WalkDir(migrations.Files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(migrations.Files, file)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		switch found := hex.EncodeToString(sum[:]); merged[file] {
		case found:
		case "":
			t.Errorf("add this line to merged.sha256:\n%s  %s", found, file)
		default:
			t.Errorf("%s has changed: before the first release give it a new timestamp in both dialects, afterwards write another migration", file)
		}
		delete(merged, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range merged {
		t.Errorf("%s does not exist: remove its line from merged.sha256 if no release had it", file)
	}
}
