CREATE TABLE agents (
	id              text COLLATE "C" PRIMARY KEY,
	workspace_id    text NOT NULL,
	name            text COLLATE "C" NOT NULL,
	title           text NOT NULL,
	description     text NOT NULL,
	tags            jsonb NOT NULL, -- array of strings
	metadata        json,           -- json, not jsonb: a client's own object comes back as it was sent
	search_text     text NOT NULL,  -- lower-case name, title, description and tags
	listed          boolean NOT NULL,
	latest_version  text NOT NULL,
	version_count   bigint NOT NULL,
	created_by_id   text NOT NULL,
	created_by_type text NOT NULL,
	created_by_name text NOT NULL,
	updated_by_id   text NOT NULL,
	updated_by_type text NOT NULL,
	updated_by_name text NOT NULL,
	created_at      timestamptz NOT NULL,
	updated_at      timestamptz NOT NULL,
	deleted_at      timestamptz
);
CREATE INDEX agents_by_name ON agents (workspace_id, name, id);

-- Every name that was ever given to an agent with versions, so that name@1.2.0 never stands for anything else: a
-- deleted agent keeps its name, a renamed one its former names.
CREATE TABLE agent_names (
	workspace_id text NOT NULL,
	name_key     text COLLATE "C" NOT NULL, -- the name with '-' as '_'
	agent_id     text COLLATE "C" NOT NULL REFERENCES agents (id),
	PRIMARY KEY (workspace_id, name_key)
);
CREATE INDEX agent_names_by_agent ON agent_names (agent_id);

-- A draft is apart from its agent because it is large and an agent is read often.
CREATE TABLE drafts (
	agent_id      text COLLATE "C" PRIMARY KEY REFERENCES agents (id),
	workspace_id  text NOT NULL,
	revision      bigint NOT NULL,
	language      text NOT NULL,
	runtime       text NOT NULL,
	saved_by_id   text NOT NULL,
	saved_by_type text NOT NULL,
	saved_by_name text NOT NULL,
	saved_at      timestamptz NOT NULL,
	spec          json NOT NULL, -- without files; json keeps the order of a schema's properties
	files         json NOT NULL  -- path to content
);

-- Usage is apart because every run writes it; nothing here refuses a run's record.
CREATE TABLE agent_usage (
	agent_id     text COLLATE "C" PRIMARY KEY,
	workspace_id text NOT NULL,
	run_count    bigint NOT NULL,
	last_used_at timestamptz NOT NULL
) WITH (fillfactor = 50);
