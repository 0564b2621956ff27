// Package migrations contains the SQL that creates and changes the database schema. Each database has a folder, and the
// migrations in both folders have the same timestamps. A migration consists of two files,
// YYYYMMDDHHMMSS_verb_noun.tx.up.sql and .tx.down.sql. Each file runs in one transaction.
//
// A merged migration must not be edited, because a database that has run it does not run it again. A test checks this
// with merged.sha256. Until the first release, a change of the schema edits create_schema and gives it a new timestamp.
// The server then rejects databases with the old timestamp. After the first release, each change is a new migration.
package migrations

import "embed"

// Files contains the folders "sqlite" and "postgres".
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
