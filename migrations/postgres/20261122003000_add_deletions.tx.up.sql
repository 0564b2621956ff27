-- Who deleted an agent and why, as JSON; '' for one that is there.
ALTER TABLE agents ADD COLUMN deletion TEXT NOT NULL DEFAULT '';
CREATE INDEX agents_by_update ON agents (workspace_id, updated_at, id);
