-- Who references what: nodes of workflows elsewhere, sets of tools, other agents. The reference is kept as it was said.
CREATE TABLE pins (
	workspace_id TEXT NOT NULL,
	owner        TEXT NOT NULL, -- an identifier of the owner's choice
	agent_id     TEXT NOT NULL REFERENCES agents (id),
	version      TEXT NOT NULL, -- as in a reference: 1.2.0, ^1, latest, sha256:…
	label        TEXT NOT NULL, -- what people call the owner
	created_at   TIMESTAMPTZ NOT NULL,
	PRIMARY KEY (workspace_id, owner, agent_id, version)
);
CREATE INDEX pins_by_agent ON pins (agent_id);

-- What to use instead of a deprecated version, as a reference.
ALTER TABLE versions ADD COLUMN deprecated_successor TEXT NOT NULL DEFAULT '';
