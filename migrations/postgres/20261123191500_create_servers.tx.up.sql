-- The servers that have the database. A run and an idempotency key name the server that works on them and its epoch; a
-- server or epoch that is not here has ended, and may write neither any more.
CREATE TABLE servers (
	id         text COLLATE "C" PRIMARY KEY,
	epoch      bigint NOT NULL UNIQUE, -- grows each time a server takes the database
	started_at timestamptz NOT NULL
);
ALTER TABLE runs ADD COLUMN server_id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN result_seq bigint NOT NULL DEFAULT 0; -- of the result event, 0 before the end
ALTER TABLE idempotency_keys ADD COLUMN server_id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE idempotency_keys ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
ALTER TABLE idempotency_keys ADD COLUMN made_kind text NOT NULL DEFAULT ''; -- what the request made, '' for nothing so far
ALTER TABLE idempotency_keys ADD COLUMN made_id text NOT NULL DEFAULT '';
