-- The history of drafts. Contents are apart, so that saves share the files that did not change.
CREATE TABLE draft_saves (
	agent_id      text COLLATE "C" NOT NULL REFERENCES agents (id),
	revision      bigint NOT NULL,
	workspace_id  text NOT NULL,
	saved_by_id   text NOT NULL,
	saved_by_type text NOT NULL,
	saved_by_name text NOT NULL,
	saved_at      timestamptz NOT NULL,
	began_at      timestamptz NOT NULL, -- when the first of the saves was made that share this row
	session       text NOT NULL, -- of the browser that saved; '' for other clients
	label         text NOT NULL,
	spec          json NOT NULL, -- without files
	files         json NOT NULL, -- path to digest of the content
	PRIMARY KEY (agent_id, revision)
);

CREATE TABLE draft_contents (
	agent_id     text COLLATE "C" NOT NULL REFERENCES agents (id),
	digest       text COLLATE "C" NOT NULL,
	workspace_id text NOT NULL,
	content      bytea NOT NULL,
	PRIMARY KEY (agent_id, digest)
);
