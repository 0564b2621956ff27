-- Only hashes of secrets are kept.
CREATE TABLE tokens (
	id              text COLLATE "C" PRIMARY KEY,
	workspace_id    text NOT NULL,
	name            text NOT NULL,
	hash            text NOT NULL UNIQUE,
	created_by_id   text NOT NULL,
	created_by_type text NOT NULL,
	created_by_name text NOT NULL,
	created_at      timestamptz NOT NULL,
	last_used_at    timestamptz,
	expires_at      timestamptz,
	revoked_at      timestamptz
);
CREATE INDEX tokens_newest ON tokens (workspace_id, created_at, id);

CREATE TABLE sessions (
	hash         text PRIMARY KEY,
	workspace_id text NOT NULL,
	actor_id     text NOT NULL,
	actor_type   text NOT NULL,
	actor_name   text NOT NULL,
	created_at   timestamptz NOT NULL,
	expires_at   timestamptz NOT NULL
);

CREATE TABLE login_links (
	hash         text PRIMARY KEY,
	workspace_id text NOT NULL,
	expires_at   timestamptz NOT NULL
);
