package store

import "strconv"

// dialect is a kind of database. Its methods return the parts of SQL that differ between databases.
type dialect string

// The values are also the names of the directories with migrations.
const (
	sqliteDialect   dialect = "sqlite"
	postgresDialect dialect = "postgres"
)

// writers returns the maximum number of concurrent transactions that write runs.
func (d dialect) writers() int {
	if d == postgresDialect {
		return 4
	}
	return 1
}

// place returns the n-th placeholder of a prepared statement, starting at 1.
func (d dialect) place(n int) string {
	if d == postgresDialect {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// hasTag returns the SQL condition that an agent a has a tag. The tag is the only parameter of the condition.
func (d dialect) hasTag() string {
	if d == postgresDialect {
		return "jsonb_exists(a.tags, ?)"
	}
	return "EXISTS (SELECT 1 FROM json_each(a.tags) WHERE json_each.value = ?)"
}

// eachTag returns a table expression. The table lists the tags of an agent a in the column value.
func (d dialect) eachTag() string {
	if d == postgresDialect {
		return "LATERAL jsonb_array_elements_text(a.tags)"
	}
	return "json_each(a.tags)"
}

// eachSecret returns a function that builds a table expression for an alias. The table lists, in the column value, the
// secrets that the spec in the aliased table declares.
func (d dialect) eachSecret() func(alias string) string {
	return func(alias string) string {
		if d == postgresDialect {
			return "json_array_elements_text(CASE WHEN json_typeof(" + alias + ".spec->'secrets') = 'array' THEN " + alias + ".spec->'secrets' ELSE '[]' END)"
		}
		return "json_each(" + alias + ".spec, '$.secrets')"
	}
}

// bytesOf returns an SQL expression for the total size of columns in bytes. SQLite evaluates it without reading the
// values.
func (d dialect) bytesOf(columns ...string) string {
	sum := "0"
	for _, column := range columns {
		if d == postgresDialect {
			column = "CAST(" + column + " AS text)"
		}
		sum += " + COALESCE(octet_length(" + column + "), 0)"
	}
	return sum
}

// size returns the name of the SQL function that computes the size of a value in bytes without reading the whole value.
func (d dialect) size() string {
	if d == postgresDialect {
		return "pg_column_size"
	}
	return "octet_length"
}
