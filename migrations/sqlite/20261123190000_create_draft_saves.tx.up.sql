-- The history of drafts. Contents are apart, so that saves share the files that did not change.
CREATE TABLE draft_saves (
	agent_id      TEXT NOT NULL REFERENCES agents (id),
	revision      INTEGER NOT NULL,
	workspace_id  TEXT NOT NULL,
	saved_by_id   TEXT NOT NULL,
	saved_by_type TEXT NOT NULL,
	saved_by_name TEXT NOT NULL,
	saved_at      TIMESTAMP NOT NULL,
	began_at      TIMESTAMP NOT NULL, -- when the first of the saves was made that share this row
	session       TEXT NOT NULL, -- of the browser that saved; '' for other clients
	label         TEXT NOT NULL,
	spec          TEXT NOT NULL, -- without files
	files         TEXT NOT NULL, -- path to digest of the content
	PRIMARY KEY (agent_id, revision)
);

CREATE TABLE draft_contents (
	agent_id     TEXT NOT NULL REFERENCES agents (id),
	digest       TEXT NOT NULL,
	workspace_id TEXT NOT NULL,
	content      BLOB NOT NULL,
	PRIMARY KEY (agent_id, digest)
);
