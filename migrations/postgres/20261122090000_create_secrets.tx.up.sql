-- A value is sealed under a key that is not in the database, together with workspace, agent, name and binding of its row.
CREATE TABLE secrets (
	workspace_id text NOT NULL,
	agent_id     text NOT NULL, -- '' for all agents of the workspace
	name         text NOT NULL,
	key_id       text NOT NULL,
	sealed       bytea NOT NULL,
	bind_host    text NOT NULL, -- '' for none
	bind_header  text NOT NULL,
	bind_format  text NOT NULL,
	set_by_id    text NOT NULL,
	set_by_type  text NOT NULL,
	set_by_name  text NOT NULL,
	set_at       timestamptz NOT NULL,
	last_used_at timestamptz,
	PRIMARY KEY (workspace_id, agent_id, name)
);

-- Which run was given what. It stands alone, as runs do: the secret may be removed, and the run too.
CREATE TABLE secret_uses (
	workspace_id text NOT NULL,
	agent_id     text NOT NULL, -- of the secret
	name         text NOT NULL,
	used_at      timestamptz NOT NULL,
	run_id       text NOT NULL,
	run_agent_id text NOT NULL,
	run_agent    text NOT NULL,
	version      text NOT NULL,
	PRIMARY KEY (workspace_id, agent_id, name, used_at, run_id)
);
CREATE INDEX secret_uses_by_age ON secret_uses (used_at);
