-- Lists of runs merge one range for each state, so that what is rare or far back is found as fast as what is new, whatever a
-- list is narrowed by. Each index begins with the one before it, so there are no more of them than there are questions.
DROP INDEX runs_newest;
DROP INDEX runs_of_agent;
CREATE INDEX runs_newest ON runs (workspace_id, status, created_at, id);
CREATE INDEX runs_of_agent ON runs (agent_id, status, created_at, id) WHERE agent_id <> '';
CREATE INDEX runs_of_version ON runs (agent_id, version, status, created_at, id) WHERE agent_id <> '';

-- Without statistics SQLite took this one for all versions of an agent, which read every version of the workspace.
DROP INDEX versions_by_content;

-- What lists of agents are narrowed by lies in their index, in the order of the list. What a listed agent shows is what its
-- latest version says, not its draft.
ALTER TABLE agents ADD COLUMN language TEXT NOT NULL DEFAULT ''; -- of the draft
ALTER TABLE agents ADD COLUMN listing_language TEXT NOT NULL DEFAULT ''; -- of the latest version, while it is listed
ALTER TABLE agents ADD COLUMN listing_text TEXT NOT NULL DEFAULT ''; -- lower-case name, title, description and tags of it
UPDATE agents SET language = COALESCE((SELECT d.language FROM drafts AS d WHERE d.agent_id = agents.id), '');
UPDATE agents SET
	listing_language = COALESCE((SELECT v.language FROM versions AS v WHERE v.agent_id = agents.id AND v.version = agents.latest_version), ''),
	listing_text = COALESCE((SELECT LOWER(agents.name || char(10) || v.title || char(10) || v.description || char(10) || agents.tags)
		FROM versions AS v WHERE v.agent_id = agents.id AND v.version = agents.latest_version), '')
WHERE listed;
DROP INDEX agents_by_name;
DROP INDEX agents_by_update;
DROP INDEX agents_listed;
CREATE INDEX agents_by_name ON agents (workspace_id, name, id, language, version_count, created_at, tags, search_text, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX agents_by_update ON agents (workspace_id, updated_at, id, language, version_count, created_at, tags, search_text, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX agents_deleted ON agents (workspace_id, name, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX agents_listed ON agents (name, id, listing_language, tags, listing_text, listed, deleted_at, latest_version) WHERE listed AND deleted_at IS NULL AND latest_version <> '';

-- Runs of drafts, replays among them, are no use of an agent.
UPDATE agent_usage SET
	run_count = run_count - (SELECT COUNT(*) FROM runs AS r WHERE r.agent_id <> '' AND r.agent_id = agent_usage.agent_id AND r.version = 'draft'
		AND r.status NOT IN ('queued', 'awaiting_approval', 'running')),
	last_used_at = COALESCE((SELECT MAX(r.finished_at) FROM runs AS r WHERE r.agent_id <> '' AND r.agent_id = agent_usage.agent_id AND r.version <> 'draft'), last_used_at)
WHERE EXISTS (SELECT 1 FROM runs AS r WHERE r.agent_id <> '' AND r.agent_id = agent_usage.agent_id AND r.version = 'draft');
DELETE FROM agent_usage WHERE run_count <= 0;
