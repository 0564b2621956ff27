// Package migrations contains the SQL that creates and changes the database schema. Each dialect has a folder, with the
// same timestamps in both. A migration is a pair YYYYMMDDHHMMSS_verb_noun.tx.up.sql and .tx.down.sql that runs in one
// transaction.
//
// A merged migration must not be edited, because a database that ran it does not run it again. A test checks this with
// merged.sha256. Until the first release, a change of the schema edits create_schema and gives it a new timestamp; the
// server then refuses databases with the old one. After the release a change is a new migration.
package migrations

import "embed"

// Files has the folders "sqlite" and "postgres".
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
