-- Tool sets pin several versions under one name. tools is a JSON list of agentId, name, version and digest.
CREATE TABLE tool_sets (
	id           TEXT NOT NULL PRIMARY KEY,
	workspace_id TEXT NOT NULL,
	name         TEXT NOT NULL,
	title        TEXT NOT NULL,
	description  TEXT NOT NULL,
	tools        TEXT NOT NULL,
	created_at   TIMESTAMPTZ NOT NULL,
	updated_at   TIMESTAMPTZ NOT NULL,
	updated_by   TEXT NOT NULL,
	UNIQUE (workspace_id, name)
);
