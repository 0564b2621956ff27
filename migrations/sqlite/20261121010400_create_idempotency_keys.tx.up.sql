CREATE TABLE idempotency_keys (
	owner        TEXT NOT NULL,
	key          TEXT NOT NULL,
	workspace_id TEXT NOT NULL,
	body_hash    TEXT NOT NULL,
	status       INTEGER NOT NULL, -- 0 while the first request is at work
	expires_at   TIMESTAMP NOT NULL,
	body         BLOB,
	PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
