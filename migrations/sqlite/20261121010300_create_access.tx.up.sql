-- Only hashes of secrets are kept.
CREATE TABLE tokens (
	id              TEXT PRIMARY KEY NOT NULL,
	workspace_id    TEXT NOT NULL,
	name            TEXT NOT NULL,
	hash            TEXT NOT NULL UNIQUE,
	created_by_id   TEXT NOT NULL,
	created_by_type TEXT NOT NULL,
	created_by_name TEXT NOT NULL,
	created_at      TIMESTAMP NOT NULL,
	last_used_at    TIMESTAMP,
	expires_at      TIMESTAMP,
	revoked_at      TIMESTAMP
);
CREATE INDEX tokens_newest ON tokens (workspace_id, created_at, id);

CREATE TABLE sessions (
	hash         TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	actor_id     TEXT NOT NULL,
	actor_type   TEXT NOT NULL,
	actor_name   TEXT NOT NULL,
	created_at   TIMESTAMP NOT NULL,
	expires_at   TIMESTAMP NOT NULL
) WITHOUT ROWID;

CREATE TABLE login_links (
	hash         TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	expires_at   TIMESTAMP NOT NULL
) WITHOUT ROWID;
