CREATE TABLE agents (
	id              TEXT PRIMARY KEY NOT NULL,
	workspace_id    TEXT NOT NULL,
	name            TEXT NOT NULL,
	title           TEXT NOT NULL,
	description     TEXT NOT NULL,
	tags            TEXT NOT NULL, -- JSON array of strings
	metadata        TEXT,          -- JSON object
	search_text     TEXT NOT NULL, -- lower-case name, title, description and tags
	listed          BOOLEAN NOT NULL,
	latest_version  TEXT NOT NULL,
	version_count   INTEGER NOT NULL,
	created_by_id   TEXT NOT NULL,
	created_by_type TEXT NOT NULL,
	created_by_name TEXT NOT NULL,
	updated_by_id   TEXT NOT NULL,
	updated_by_type TEXT NOT NULL,
	updated_by_name TEXT NOT NULL,
	created_at      TIMESTAMP NOT NULL,
	updated_at      TIMESTAMP NOT NULL,
	deleted_at      TIMESTAMP
);
CREATE INDEX agents_by_name ON agents (workspace_id, name, id);

-- Every name that was ever given to an agent with versions, so that name@1.2.0 never stands for anything else: a
-- deleted agent keeps its name, a renamed one its former names.
CREATE TABLE agent_names (
	workspace_id TEXT NOT NULL,
	name_key     TEXT NOT NULL, -- the name with '-' as '_'
	agent_id     TEXT NOT NULL REFERENCES agents (id),
	PRIMARY KEY (workspace_id, name_key)
) WITHOUT ROWID;
CREATE INDEX agent_names_by_agent ON agent_names (agent_id);

-- A draft is apart from its agent because it is large and an agent is read often.
CREATE TABLE drafts (
	agent_id     TEXT PRIMARY KEY NOT NULL REFERENCES agents (id),
	workspace_id TEXT NOT NULL,
	revision     INTEGER NOT NULL,
	language     TEXT NOT NULL,
	runtime      TEXT NOT NULL,
	saved_by_id   TEXT NOT NULL,
	saved_by_type TEXT NOT NULL,
	saved_by_name TEXT NOT NULL,
	saved_at     TIMESTAMP NOT NULL,
	spec         TEXT NOT NULL, -- JSON without files
	files        TEXT NOT NULL  -- JSON: path to content
);

-- Usage is apart because every run writes it; nothing here refuses a run's record.
CREATE TABLE agent_usage (
	agent_id     TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	run_count    INTEGER NOT NULL,
	last_used_at TIMESTAMP NOT NULL
) WITHOUT ROWID;
