-- Lists of runs merge one range for each state, so that what is rare or far back is found as fast as what is new, whatever a
-- list is narrowed by. Each index begins with the one before it, so there are no more of them than there are questions.
DROP INDEX runs_newest;
DROP INDEX runs_of_agent;
CREATE INDEX runs_newest ON runs (workspace_id, status, created_at, id);
CREATE INDEX runs_of_agent ON runs (agent_id, status, created_at, id) WHERE agent_id <> '';
CREATE INDEX runs_of_version ON runs (agent_id, version, status, created_at, id) WHERE agent_id <> '';

-- Nothing asks by it.
DROP INDEX versions_by_content;

-- The language is where lists of agents look for it. What a listed agent shows is what its
-- latest version says, not its draft.
ALTER TABLE agents ADD COLUMN language text NOT NULL DEFAULT ''; -- of the draft
ALTER TABLE agents ADD COLUMN listing_language text NOT NULL DEFAULT ''; -- of the latest version, while it is listed
ALTER TABLE agents ADD COLUMN listing_text text NOT NULL DEFAULT ''; -- lower-case name, title, description and tags of it
UPDATE agents SET language = COALESCE((SELECT d.language FROM drafts AS d WHERE d.agent_id = agents.id), '');
UPDATE agents SET
	listing_language = COALESCE((SELECT v.language FROM versions AS v WHERE v.agent_id = agents.id AND v.version = agents.latest_version), ''),
	listing_text = COALESCE((SELECT LOWER(agents.name || chr(10) || v.title || chr(10) || v.description || chr(10) || agents.tags::text)
		FROM versions AS v WHERE v.agent_id = agents.id AND v.version = agents.latest_version), '')
WHERE listed;
DROP INDEX agents_by_name;
DROP INDEX agents_by_update;
DROP INDEX agents_listed;
CREATE INDEX agents_by_name ON agents (workspace_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX agents_by_update ON agents (workspace_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX agents_deleted ON agents (workspace_id, name, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX agents_listed ON agents (name, id) WHERE listed AND deleted_at IS NULL AND latest_version <> '';

-- Runs of drafts, replays among them, are no use of an agent.
UPDATE agent_usage SET
	run_count = run_count - (SELECT COUNT(*) FROM runs AS r WHERE r.agent_id <> '' AND r.agent_id = agent_usage.agent_id AND r.version = 'draft'
		AND r.status NOT IN ('queued', 'awaiting_approval', 'running')),
	last_used_at = COALESCE((SELECT MAX(r.finished_at) FROM runs AS r WHERE r.agent_id <> '' AND r.agent_id = agent_usage.agent_id AND r.version <> 'draft'), last_used_at)
WHERE EXISTS (SELECT 1 FROM runs AS r WHERE r.agent_id <> '' AND r.agent_id = agent_usage.agent_id AND r.version = 'draft');
DELETE FROM agent_usage WHERE run_count <= 0;
