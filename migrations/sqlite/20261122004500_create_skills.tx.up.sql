-- Agents that are skills as well: where they come from, and what was said of them. The versions are in their own table.
CREATE TABLE skills (
	agent_id          TEXT PRIMARY KEY REFERENCES agents (id),
	workspace_id      TEXT NOT NULL,
	origin            TEXT NOT NULL, -- builtin, folder, archive, url, created, registered
	source            TEXT NOT NULL, -- an address or the name of an archive, '' otherwise
	handler           TEXT NOT NULL, -- as in skill.yaml
	drafted           BOOLEAN NOT NULL, -- the agent's draft waits to be promoted
	claims            TEXT NOT NULL, -- what a client said of the code, as JSON; recorded and never trusted
	installed_at      TIMESTAMP NOT NULL,
	installed_by_id   TEXT NOT NULL,
	installed_by_type TEXT NOT NULL,
	installed_by_name TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX skills_by_workspace ON skills (workspace_id);
