-- A run stands alone: it has no foreign key to agents or versions, because its record must never be refused and
-- outlives what it ran. Documents are json, not jsonb: they come back byte for byte, as their hashes need, and may
-- contain \u0000.
CREATE TABLE runs (
	id                text COLLATE "C" PRIMARY KEY,
	workspace_id      text NOT NULL,
	organisation_id   text NOT NULL,
	agent_id          text COLLATE "C" NOT NULL, -- '' for inline code
	agent_name        text NOT NULL,
	version           text NOT NULL, -- '' for inline code, 'draft' for a draft
	digest            text NOT NULL,
	code_digest       text NOT NULL,
	language          text NOT NULL,
	runtime           text NOT NULL,
	trigger_type      text NOT NULL,
	parent_run_id     text NOT NULL,
	workflow_run_id   text NOT NULL,
	node_id           text NOT NULL,
	actor_id          text NOT NULL,
	actor_type        text NOT NULL,
	actor_name        text NOT NULL,
	status            text NOT NULL,
	error_type        text NOT NULL, -- '' for none
	exit_code         bigint,
	truncated         boolean NOT NULL,
	input_validation  text NOT NULL, -- passed, failed, skipped
	output_validation text NOT NULL,
	tokens_used       bigint NOT NULL,
	queued_ms         double precision NOT NULL,
	start_ms          double precision NOT NULL,
	run_ms            double precision NOT NULL,
	total_ms          double precision NOT NULL,
	cpu_ms            double precision NOT NULL,
	peak_memory_bytes bigint NOT NULL,
	memory_bytes      bigint NOT NULL, -- the limit
	inputs_hash       text NOT NULL,
	outputs_hash      text NOT NULL,
	isolation         text NOT NULL,
	trace_id          text NOT NULL,
	created_at        timestamptz NOT NULL,
	started_at        timestamptz,
	finished_at       timestamptz,
	error             json,
	input             json,
	output            json,
	stdout            bytea, -- a program may print any character, U+0000 too
	stderr            bytea
);
CREATE INDEX runs_newest ON runs (workspace_id, created_at, id);
CREATE INDEX runs_of_agent ON runs (agent_id, created_at, id) WHERE agent_id <> '';
CREATE INDEX runs_of_parent ON runs (parent_run_id) WHERE parent_run_id <> '';
CREATE INDEX runs_of_workflow ON runs (workflow_run_id) WHERE workflow_run_id <> '';
CREATE INDEX runs_unfinished ON runs (status) WHERE status IN ('queued', 'awaiting_approval', 'running');

CREATE TABLE run_events (
	run_id       text COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	seq          bigint NOT NULL,
	workspace_id text NOT NULL,
	at           timestamptz NOT NULL,
	kind         text NOT NULL,
	data         json NOT NULL,
	PRIMARY KEY (run_id, seq)
);
