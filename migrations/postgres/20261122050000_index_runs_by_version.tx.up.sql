-- Runs of a version whatever the agent, and of drafts, as a list asks for them: without it a page was found by looking at each run.
CREATE INDEX runs_by_version ON runs (workspace_id, version, status, created_at, id);
