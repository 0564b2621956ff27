// Package migrations holds the SQL that makes and changes the database's schema, one folder per dialect with the same
// stamps in both. A migration is a pair YYYYMMDDHHMMSS_verb_noun.tx.up.sql and .tx.down.sql that runs in one transaction,
// and it is never edited once it was merged: databases that ran it would not run it again. merged.sha256 holds them to it.
package migrations

import "embed"

// Files has the folders "sqlite" and "postgres".
//
//go:embed sqlite/*.sql postgres/*.sql
var Files embed.FS
