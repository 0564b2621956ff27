CREATE TABLE idempotency_keys (
	owner        text NOT NULL,
	key          text NOT NULL,
	workspace_id text NOT NULL,
	body_hash    text NOT NULL,
	status       bigint NOT NULL, -- 0 while the first request is at work
	expires_at   timestamptz NOT NULL,
	body         bytea,
	PRIMARY KEY (owner, key)
);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
