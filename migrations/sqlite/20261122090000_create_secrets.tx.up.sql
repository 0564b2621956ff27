-- A value is sealed under a key that is not in the database, together with workspace, agent, name and binding of its row.
CREATE TABLE secrets (
	workspace_id TEXT NOT NULL,
	agent_id     TEXT NOT NULL, -- '' for all agents of the workspace
	name         TEXT NOT NULL,
	key_id       TEXT NOT NULL,
	sealed       BLOB NOT NULL,
	bind_host    TEXT NOT NULL, -- '' for none
	bind_header  TEXT NOT NULL,
	bind_format  TEXT NOT NULL,
	set_by_id    TEXT NOT NULL,
	set_by_type  TEXT NOT NULL,
	set_by_name  TEXT NOT NULL,
	set_at       TIMESTAMP NOT NULL,
	last_used_at TIMESTAMP,
	PRIMARY KEY (workspace_id, agent_id, name)
) WITHOUT ROWID;

-- Which run was given what. It stands alone, as runs do: the secret may be removed, and the run too.
CREATE TABLE secret_uses (
	workspace_id TEXT NOT NULL,
	agent_id     TEXT NOT NULL, -- of the secret
	name         TEXT NOT NULL,
	used_at      TIMESTAMP NOT NULL,
	run_id       TEXT NOT NULL,
	run_agent_id TEXT NOT NULL,
	run_agent    TEXT NOT NULL,
	version      TEXT NOT NULL,
	PRIMARY KEY (workspace_id, agent_id, name, used_at, run_id)
) WITHOUT ROWID;
CREATE INDEX secret_uses_by_age ON secret_uses (used_at);
