-- A run stands alone: it has no foreign key to agents or versions, because its record must never be refused and
-- outlives what it ran. Large columns are last, so that lists do not read them.
CREATE TABLE runs (
	id                TEXT PRIMARY KEY NOT NULL,
	workspace_id      TEXT NOT NULL,
	organisation_id   TEXT NOT NULL,
	agent_id          TEXT NOT NULL, -- '' for inline code
	agent_name        TEXT NOT NULL,
	version           TEXT NOT NULL, -- '' for inline code, 'draft' for a draft
	digest            TEXT NOT NULL,
	code_digest       TEXT NOT NULL,
	language          TEXT NOT NULL,
	runtime           TEXT NOT NULL,
	trigger_type      TEXT NOT NULL,
	parent_run_id     TEXT NOT NULL,
	workflow_run_id   TEXT NOT NULL,
	node_id           TEXT NOT NULL,
	actor_id          TEXT NOT NULL,
	actor_type        TEXT NOT NULL,
	actor_name        TEXT NOT NULL,
	status            TEXT NOT NULL,
	error_type        TEXT NOT NULL, -- '' for none
	exit_code         INTEGER,
	truncated         BOOLEAN NOT NULL,
	input_validation  TEXT NOT NULL, -- passed, failed, skipped
	output_validation TEXT NOT NULL,
	tokens_used       INTEGER NOT NULL,
	queued_ms         REAL NOT NULL,
	start_ms          REAL NOT NULL,
	run_ms            REAL NOT NULL,
	total_ms          REAL NOT NULL,
	cpu_ms            REAL NOT NULL,
	peak_memory_bytes INTEGER NOT NULL,
	memory_bytes      INTEGER NOT NULL, -- the limit
	inputs_hash       TEXT NOT NULL,
	outputs_hash      TEXT NOT NULL,
	isolation         TEXT NOT NULL,
	trace_id          TEXT NOT NULL,
	created_at        TIMESTAMP NOT NULL,
	started_at        TIMESTAMP,
	finished_at       TIMESTAMP,
	error             TEXT, -- JSON
	input             TEXT, -- JSON
	output            TEXT, -- JSON
	stdout            BLOB, -- a program may print any character, U+0000 too
	stderr            BLOB
);
CREATE INDEX runs_newest ON runs (workspace_id, created_at, id);
CREATE INDEX runs_of_agent ON runs (agent_id, created_at, id) WHERE agent_id <> '';
CREATE INDEX runs_of_parent ON runs (parent_run_id) WHERE parent_run_id <> '';
CREATE INDEX runs_of_workflow ON runs (workflow_run_id) WHERE workflow_run_id <> '';
CREATE INDEX runs_unfinished ON runs (status) WHERE status IN ('queued', 'awaiting_approval', 'running');

CREATE TABLE run_events (
	run_id       TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	seq          INTEGER NOT NULL,
	workspace_id TEXT NOT NULL,
	at           TIMESTAMP NOT NULL,
	kind         TEXT NOT NULL,
	data         TEXT NOT NULL, -- JSON
	PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;
