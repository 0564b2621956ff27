package migrations_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/migrations"
)

// contractMarker matches the line that allows a migration to remove parts of the schema. The line names the release
// since which no server uses these parts, so that a reviewer can check that no older server runs any more.
var contractMarker = regexp.MustCompile(`(?m)^-- contract: unused since \d+\.\d+\.\d+$`)

var (
	comments = regexp.MustCompile(`--[^\n]*`)
	contract = []struct {
		name    string
		pattern *regexp.Regexp
	}{
		{"DROP", regexp.MustCompile(`(?i)\bDROP\s+(?:TABLE|VIEW|TYPE|COLUMN|FUNCTION|TRIGGER)\b`)},
		{"ALTER TABLE … DROP", regexp.MustCompile(`(?i)\bALTER\s+TABLE\b[^;]*\bDROP\s+\w`)},
		{"RENAME", regexp.MustCompile(`(?i)\bRENAME\b`)},
		{"SET NOT NULL", regexp.MustCompile(`(?i)\bSET\s+NOT\s+NULL\b`)},
		{"ALTER TYPE", regexp.MustCompile(`(?i)\bALTER\s+COLUMN\b[^;]*\bTYPE\b`)},
		{"ADD CHECK, UNIQUE or a key", regexp.MustCompile(`(?i)\bALTER\s+TABLE\b[^;]*\bADD\s+(?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN)\b`)},
	}
	addColumn  = regexp.MustCompile(`(?i)\bADD\s+COLUMN\b[^,;]*`)
	notNull    = regexp.MustCompile(`(?i)\bNOT\s+NULL\b`)
	hasDefault = regexp.MustCompile(`(?i)\bDEFAULT\b`)
)

// contractions returns the statements of a migration with which servers of the previous release cannot work.
func contractions(sql string) (found []string) {
	if contractMarker.MatchString(sql) {
		return nil
	}
	sql = comments.ReplaceAllString(sql, "")
	for _, one := range contract {
		if one.pattern.MatchString(sql) {
			found = append(found, one.name)
		}
	}
	for _, column := range addColumn.FindAllString(sql, -1) {
		if notNull.MatchString(column) && !hasDefault.MatchString(column) {
			found = append(found, "ADD COLUMN … NOT NULL without DEFAULT")
		}
	}
	return found
}

// TestMigrations_AfterTheFirst_OnlyExpand checks that migrations only add to the schema, because servers of the
// previous release still run while a new release migrates. The first migration may do anything, because there is no
// previous release.
func TestMigrations_AfterTheFirst_OnlyExpand(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"sqlite", "postgres"} {
		files, err := fs.Glob(migrations.Files, dialect+"/*.up.sql")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		slices.Sort(files)
		for _, file := range files[1:] {
			text, err := fs.ReadFile(migrations.Files, file)
			if err != nil {
				t.Fatal(err)
			}
			for _, statement := range contractions(string(text)) {
				t.Errorf("%s has %s, with which servers of the previous release cannot work: keep the old part, and remove it in a later release with the line \"-- contract: unused since X.Y.Z\"", file, statement)
			}
		}
	}
}

func TestContractions_StatementsOldServersCannotWorkWith_Found(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"CREATE TABLE a (b TEXT NOT NULL);\nCREATE INDEX c ON a (b);":             "",
		"ALTER TABLE a ADD COLUMN b TEXT;":                                        "",
		"ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT '';":                    "",
		"ALTER TABLE a ADD COLUMN b TEXT NOT NULL;":                               "ADD COLUMN … NOT NULL without DEFAULT",
		"ALTER TABLE a ADD COLUMN b TEXT DEFAULT '', ADD COLUMN c INT\nnot null;": "ADD COLUMN … NOT NULL without DEFAULT",
		"drop table a;":                                  "DROP",
		"ALTER TABLE a\n\tDROP b;":                       "ALTER TABLE … DROP",
		"ALTER TABLE a RENAME COLUMN b TO c;":            "RENAME",
		"ALTER TABLE a ALTER COLUMN b SET NOT NULL;":     "SET NOT NULL",
		"ALTER TABLE a ALTER COLUMN b TYPE bigint;":      "ALTER TYPE",
		"ALTER TABLE a ADD CONSTRAINT b CHECK (c > 0);":  "ADD CHECK, UNIQUE or a key",
		"-- DROP TABLE a;\nCREATE TABLE b (c TEXT);":     "",
		"-- contract: unused since 0.2.0\nDROP TABLE a;": "",
		"-- contract: unused\nDROP TABLE a;":             "DROP",
	} {
		if got := strings.Join(contractions(sql), ", "); got != want {
			t.Errorf("%q has %q, want %q", sql, got, want)
		}
	}
}
