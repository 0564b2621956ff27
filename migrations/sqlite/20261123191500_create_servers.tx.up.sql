-- The servers that have the database. A run and an idempotency key name the server that works on them and its epoch; a
-- server or epoch that is not here has ended, and may write neither any more.
CREATE TABLE servers (
	id         TEXT PRIMARY KEY NOT NULL,
	epoch      INTEGER NOT NULL UNIQUE, -- grows each time a server takes the database
	started_at TIMESTAMP NOT NULL
);
ALTER TABLE runs ADD COLUMN server_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN result_seq INTEGER NOT NULL DEFAULT 0; -- of the result event, 0 before the end
ALTER TABLE idempotency_keys ADD COLUMN server_id TEXT NOT NULL DEFAULT '';
ALTER TABLE idempotency_keys ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE idempotency_keys ADD COLUMN made_kind TEXT NOT NULL DEFAULT ''; -- what the request made, '' for nothing so far
ALTER TABLE idempotency_keys ADD COLUMN made_id TEXT NOT NULL DEFAULT '';
