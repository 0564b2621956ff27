package store

import "strconv"

// dialect tells the databases apart where SQL differs.
type dialect string

// The values are also the folders of their migrations.
const (
	sqliteDialect   dialect = "sqlite"
	postgresDialect dialect = "postgres"
)

// writers is how many transactions may commit runs at once.
func (d dialect) writers() int {
	if d == postgresDialect {
		return 4
	}
	return 1
}

// place is the n-th placeholder of a prepared statement, from 1.
func (d dialect) place(n int) string {
	if d == postgresDialect {
		return "$" + strconv.Itoa(n)
	}
	return "?"
}

// hasTag is a condition on agents with one argument, a tag.
func (d dialect) hasTag() string {
	if d == postgresDialect {
		return "jsonb_exists(a.tags, ?)"
	}
	return "EXISTS (SELECT 1 FROM json_each(a.tags) WHERE json_each.value = ?)"
}

// eachSecret is a table of the names of secrets in the spec of a table with an alias, in the column value.
func (d dialect) eachSecret() func(alias string) string {
	return func(alias string) string {
		if d == postgresDialect {
			return "json_array_elements_text(CASE WHEN json_typeof(" + alias + ".spec->'secrets') = 'array' THEN " + alias + ".spec->'secrets' ELSE '[]' END)"
		}
		return "json_each(" + alias + ".spec, '$.secrets')"
	}
}

// size is a function that tells how many bytes a value takes without reading all of it.
func (d dialect) size() string {
	if d == postgresDialect {
		return "pg_column_size"
	}
	return "octet_length"
}
