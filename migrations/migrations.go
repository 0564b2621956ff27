// Package migrations contains the SQL that creates and changes the database schema. Each dialect has a folder, with the
// same timestamps in both. A migration is a pair YYYYMMDDHHMMSS_verb_noun.tx.up.sql and .tx.down.sql that runs in one
// transaction.
//
// A merged migration must not be edited, because databases that ran it would not run it again. merged.sha256 enforces
// this.
package migrations

import "embed"

// Files has the folders "sqlite" and "postgres".
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
