-- Workspaces are tenants. A closed workspace keeps its rows and its name, and nobody enters it.
CREATE TABLE workspaces (
	id         TEXT PRIMARY KEY NOT NULL,
	name       TEXT NOT NULL UNIQUE,
	title      TEXT NOT NULL,
	created_at TIMESTAMP NOT NULL,
	closed_at  TIMESTAMP
);

CREATE TABLE users (
	id         TEXT PRIMARY KEY NOT NULL,
	name       TEXT NOT NULL UNIQUE, -- for signing in
	title      TEXT NOT NULL, -- for other people
	password   TEXT NOT NULL, -- argon2id with its parameters and salt; '' for none
	created_at TIMESTAMP NOT NULL
);

CREATE TABLE memberships (
	workspace_id TEXT NOT NULL REFERENCES workspaces (id),
	user_id      TEXT NOT NULL REFERENCES users (id),
	role         TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'approver', 'administrator')),
	created_at   TIMESTAMP NOT NULL,
	PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX memberships_of_user ON memberships (user_id);

-- Invitations are one-time links by which people become members. Only hashes of their secrets are kept.
CREATE TABLE invitations (
	id              TEXT PRIMARY KEY NOT NULL,
	workspace_id    TEXT NOT NULL REFERENCES workspaces (id),
	hash            TEXT NOT NULL UNIQUE,
	role            TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'approver', 'administrator')),
	note            TEXT NOT NULL, -- the name of the invited person
	created_by_id   TEXT NOT NULL,
	created_by_type TEXT NOT NULL,
	created_by_name TEXT NOT NULL,
	created_at      TIMESTAMP NOT NULL,
	expires_at      TIMESTAMP NOT NULL
);
CREATE INDEX invitations_of_workspace ON invitations (workspace_id, created_at);

-- A person's identity at the provider of logins. The user is stored after it in the same transaction.
CREATE TABLE identities (
	issuer     TEXT NOT NULL,
	subject    TEXT NOT NULL,
	user_id    TEXT NOT NULL UNIQUE REFERENCES users (id) DEFERRABLE INITIALLY DEFERRED,
	created_at TIMESTAMP NOT NULL,
	PRIMARY KEY (issuer, subject)
);

-- Only hashes of tokens, sessions and links are kept.
CREATE TABLE tokens (
	id              TEXT PRIMARY KEY NOT NULL,
	workspace_id    TEXT NOT NULL,
	name            TEXT NOT NULL,
	hash            TEXT NOT NULL UNIQUE,
	user_id         TEXT NOT NULL, -- the token may do no more than this user; '' for the server's own tokens
	scopes          TEXT NOT NULL, -- JSON array of strings
	agents          TEXT NOT NULL, -- JSON array of agents' ids and names; empty for all
	created_by_id   TEXT NOT NULL,
	created_by_type TEXT NOT NULL,
	created_by_name TEXT NOT NULL,
	created_at      TIMESTAMP NOT NULL,
	last_used_at    TIMESTAMP,
	expires_at      TIMESTAMP,
	revoked_at      TIMESTAMP
);
CREATE INDEX tokens_newest ON tokens (workspace_id, created_at, id);
CREATE INDEX tokens_of_user ON tokens (user_id) WHERE user_id <> '';

CREATE TABLE sessions (
	hash         TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	actor_id     TEXT NOT NULL,
	actor_type   TEXT NOT NULL,
	actor_name   TEXT NOT NULL,
	address      TEXT NOT NULL, -- address and browser describe the session to the person who may end it
	browser      TEXT NOT NULL,
	created_at   TIMESTAMP NOT NULL,
	last_used_at TIMESTAMP,
	expires_at   TIMESTAMP NOT NULL
) WITHOUT ROWID;

CREATE TABLE login_links (
	hash         TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	user_id      TEXT NOT NULL,
	expires_at   TIMESTAMP NOT NULL
) WITHOUT ROWID;

-- Wrong secrets from one network, and until when they count. They are stored so that a restart does not allow ten more guesses.
CREATE TABLE login_failures (
	source   TEXT PRIMARY KEY NOT NULL,
	failures INTEGER NOT NULL,
	until    TIMESTAMP NOT NULL
) WITHOUT ROWID;

CREATE TABLE agents (
	id                TEXT PRIMARY KEY NOT NULL,
	workspace_id      TEXT NOT NULL,
	name              TEXT NOT NULL,
	title             TEXT NOT NULL,
	description       TEXT NOT NULL,
	tags              TEXT NOT NULL, -- JSON array of strings
	metadata          TEXT,          -- JSON object
	language          TEXT NOT NULL, -- of the draft
	search_text       TEXT NOT NULL, -- lower-case name, title, description and tags
	listed            BOOLEAN NOT NULL,
	listing_language  TEXT NOT NULL, -- of the latest version, while the agent is listed
	listing_text      TEXT NOT NULL, -- lower-case name, title, description and tags of the latest version, while the agent is listed
	latest_version    TEXT NOT NULL, -- the version that name@latest resolves to
	latest_deprecated BOOLEAN NOT NULL,
	version_count     INTEGER NOT NULL,
	origin            TEXT NOT NULL, -- JSON: the source of a copied agent; '' for an agent that was created here
	created_by_id     TEXT NOT NULL,
	created_by_type   TEXT NOT NULL,
	created_by_name   TEXT NOT NULL,
	updated_by_id     TEXT NOT NULL,
	updated_by_type   TEXT NOT NULL,
	updated_by_name   TEXT NOT NULL,
	created_at        TIMESTAMP NOT NULL,
	updated_at        TIMESTAMP NOT NULL,
	deleted_at        TIMESTAMP,
	deletion          TEXT NOT NULL -- JSON: who deleted the agent and why; '' for an agent that exists
);
-- The indexes of lists contain every column that a list filters by, so that a list reads only the rows it returns.
CREATE INDEX agents_by_name ON agents (workspace_id, name, id, language, version_count, created_at, tags, search_text, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX agents_by_update ON agents (workspace_id, updated_at, id, language, version_count, created_at, tags, search_text, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX agents_deleted ON agents (workspace_id, name, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX agents_listed ON agents (name, id, listing_language, tags, listing_text, listed, deleted_at, latest_version) WHERE listed AND deleted_at IS NULL AND latest_version <> '';

-- Every name that an agent with versions ever had, so that name@1.2.0 never refers to anything else: a deleted agent
-- keeps its name, a renamed one its former names.
CREATE TABLE agent_names (
	workspace_id TEXT NOT NULL,
	name_key     TEXT NOT NULL, -- the name with '-' as '_'
	agent_id     TEXT NOT NULL REFERENCES agents (id),
	PRIMARY KEY (workspace_id, name_key)
) WITHOUT ROWID;
CREATE INDEX agent_names_by_agent ON agent_names (agent_id);

-- A draft has its own table because it is large and an agent is read often.
CREATE TABLE drafts (
	agent_id      TEXT PRIMARY KEY NOT NULL REFERENCES agents (id),
	workspace_id  TEXT NOT NULL,
	revision      INTEGER NOT NULL,
	language      TEXT NOT NULL,
	runtime       TEXT NOT NULL,
	saved_by_id   TEXT NOT NULL,
	saved_by_type TEXT NOT NULL,
	saved_by_name TEXT NOT NULL,
	saved_at      TIMESTAMP NOT NULL,
	authored      TEXT NOT NULL, -- digest without what publishing decides; '' if the spec has none
	spec          TEXT NOT NULL, -- JSON without files
	files         TEXT NOT NULL  -- JSON: path to content
);

-- The history of drafts. Contents have their own table, so that saves share the files that did not change.
CREATE TABLE draft_saves (
	agent_id      TEXT NOT NULL REFERENCES agents (id),
	revision      INTEGER NOT NULL,
	workspace_id  TEXT NOT NULL,
	saved_by_id   TEXT NOT NULL,
	saved_by_type TEXT NOT NULL,
	saved_by_name TEXT NOT NULL,
	saved_at      TIMESTAMP NOT NULL,
	began_at      TIMESTAMP NOT NULL, -- time of the first save that shares this row
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

-- Usage has its own table because every run writes it. It has no foreign key, so that it never rejects a run's record.
CREATE TABLE agent_usage (
	agent_id     TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	run_count    INTEGER NOT NULL,
	last_used_at TIMESTAMP NOT NULL
) WITHOUT ROWID;

CREATE TABLE versions (
	id                   TEXT PRIMARY KEY NOT NULL,
	workspace_id         TEXT NOT NULL,
	agent_id             TEXT NOT NULL REFERENCES agents (id),
	agent_name           TEXT NOT NULL, -- at the time of publishing, because the digest covers it
	version              TEXT NOT NULL,
	digest               TEXT NOT NULL,
	content_digest       TEXT NOT NULL,
	code_digest          TEXT NOT NULL,
	authored             TEXT NOT NULL, -- like that of a draft
	title                TEXT NOT NULL,
	description          TEXT NOT NULL,
	language             TEXT NOT NULL,
	runtime              TEXT NOT NULL,
	runtime_choice       TEXT, -- JSON: why auto chose the runtime
	runtime_auto         BOOLEAN NOT NULL, -- the author left the choice to the server
	verdict              TEXT, -- JSON: the verdict of the gate when it was published
	published_by_id      TEXT NOT NULL,
	published_by_type    TEXT NOT NULL,
	published_by_name    TEXT NOT NULL,
	published_at         TIMESTAMP NOT NULL,
	deprecated           BOOLEAN NOT NULL,
	deprecated_reason    TEXT NOT NULL,
	deprecated_successor TEXT NOT NULL, -- a reference to use instead
	changelog            TEXT NOT NULL,
	override             TEXT, -- JSON: why the version is lower than advised
	files_digest         TEXT, -- of the blob that holds the files when they are large
	spec                 TEXT NOT NULL, -- JSON without files
	files                TEXT, -- JSON: path to content
	tests                TEXT, -- JSON: list of cases
	regressions          TEXT, -- JSON: the failed checks that the publisher accepted
	UNIQUE (agent_id, version),
	CHECK ((files IS NULL) <> (files_digest IS NULL))
);
-- The sweep of blobs asks which versions have their files in one.
CREATE INDEX versions_files ON versions (files_digest, agent_id, version) WHERE files_digest IS NOT NULL;
CREATE INDEX versions_by_digest ON versions (agent_id, digest);
CREATE INDEX versions_newest ON versions (agent_id, published_at, id);
-- Publishing reads the numbers of all versions, and no rows.
CREATE INDEX versions_numbers ON versions (agent_id, version, digest, content_digest, deprecated, agent_name);

-- The database itself rejects changes of a published version. Deprecation is not content.
CREATE TRIGGER versions_are_immutable BEFORE UPDATE OF id, workspace_id, agent_id, agent_name, version, digest,
	content_digest, code_digest, authored, title, description, language, runtime, published_by_id, published_by_type,
	published_by_name, published_at, changelog, override, runtime_choice, runtime_auto, verdict, files_digest, spec, files, tests, regressions ON versions
BEGIN
	SELECT RAISE(ABORT, 'a published version is immutable');
END;
CREATE TRIGGER versions_are_kept BEFORE DELETE ON versions
BEGIN
	SELECT RAISE(ABORT, 'a published version is kept');
END;

-- References to agents from outside: nodes of workflows, sets of tools, other agents.
CREATE TABLE pins (
	workspace_id TEXT NOT NULL,
	owner        TEXT NOT NULL, -- an identifier of the owner's choice
	agent_id     TEXT NOT NULL REFERENCES agents (id),
	version      TEXT NOT NULL, -- as in a reference: 1.2.0, ^1, latest, sha256:…
	label        TEXT NOT NULL, -- the owner's name for people
	created_at   TIMESTAMP NOT NULL,
	PRIMARY KEY (workspace_id, owner, agent_id, version)
) WITHOUT ROWID;
CREATE INDEX pins_by_agent ON pins (agent_id);

-- Agents that are skills too. Their versions are in table versions.
CREATE TABLE skills (
	agent_id          TEXT PRIMARY KEY REFERENCES agents (id),
	workspace_id      TEXT NOT NULL,
	origin            TEXT NOT NULL, -- builtin, folder, archive, url, created, registered, registry
	source            TEXT NOT NULL, -- an address or the name of an archive, '' otherwise
	handler           TEXT NOT NULL, -- as in skill.yaml
	drafted           BOOLEAN NOT NULL, -- the agent's draft waits to be promoted
	claims            TEXT NOT NULL, -- JSON: a client's statements about the code; recorded and never trusted
	installed_at      TIMESTAMP NOT NULL,
	installed_by_id   TEXT NOT NULL,
	installed_by_type TEXT NOT NULL,
	installed_by_name TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX skills_by_workspace ON skills (workspace_id);

-- Tool sets pin several versions under one name. tools is a JSON list of agentId, name, version and digest.
CREATE TABLE tool_sets (
	id           TEXT NOT NULL PRIMARY KEY,
	workspace_id TEXT NOT NULL,
	name         TEXT NOT NULL,
	title        TEXT NOT NULL,
	description  TEXT NOT NULL,
	tools        TEXT NOT NULL,
	created_at   TIMESTAMP NOT NULL,
	updated_at   TIMESTAMP NOT NULL,
	updated_by   TEXT NOT NULL,
	UNIQUE (workspace_id, name)
) WITHOUT ROWID;

-- The exact packages for a list of packages of a draft, or of inline programs with the agent ''. A version has its own lock.
CREATE TABLE package_locks (
	workspace_id TEXT NOT NULL,
	agent_id     TEXT NOT NULL,
	list         TEXT NOT NULL, -- digest of language, platform and requirements
	lock         TEXT NOT NULL, -- JSON
	created_at   TIMESTAMP NOT NULL,
	used_at      TIMESTAMP NOT NULL,
	PRIMARY KEY (workspace_id, agent_id, list)
) WITHOUT ROWID;

-- Servers that have the database open. A run and an idempotency key name the server that works on them and its epoch. A
-- server or epoch without a row here has ended and may no longer write either.
CREATE TABLE servers (
	id         TEXT PRIMARY KEY NOT NULL,
	epoch      INTEGER NOT NULL UNIQUE, -- grows each time a server opens the database
	started_at TIMESTAMP NOT NULL,
	seen_at    TIMESTAMP NOT NULL, -- last probe of a write
	address    TEXT NOT NULL, -- for people; '' for a server that is alone
	lease_until TIMESTAMP -- by the clock of the database; NULL for a server that is alone
);

-- Requests to cancel a run that another server executes. That server removes them.
CREATE TABLE run_cancellations (
	run_id       TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	server_id    TEXT NOT NULL,
	created_at   TIMESTAMP NOT NULL
);
CREATE INDEX run_cancellations_by_server ON run_cancellations (server_id);

-- Jobs at other services that a restarted server continues to follow, until their runs have ended.
CREATE TABLE remote_jobs (
	run_id       TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	handle       TEXT NOT NULL,
	request      BLOB NOT NULL,
	created_at   TIMESTAMP NOT NULL
);

-- What each of several servers counts for the quotas of workspaces.
CREATE TABLE quota_shares (
	server_id    TEXT NOT NULL,
	workspace_id TEXT NOT NULL,
	day          TIMESTAMP NOT NULL,
	live         INTEGER NOT NULL, -- runs at this moment
	runs         INTEGER NOT NULL, -- of the day, since the server started
	cpu_ms       REAL NOT NULL,
	PRIMARY KEY (server_id, workspace_id)
);

-- A run has no foreign key to agents or versions, because its record must never be rejected and outlives them. Large
-- columns are last, so that lists do not read them.
CREATE TABLE runs (
	id                TEXT PRIMARY KEY NOT NULL,
	workspace_id      TEXT NOT NULL,
	agent_id          TEXT NOT NULL, -- '' for inline code
	agent_name        TEXT NOT NULL,
	version           TEXT NOT NULL, -- '' for inline code, 'draft' for a draft
	draft_revision    INTEGER NOT NULL, -- 0 unless a draft ran
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
	request_id        TEXT NOT NULL, -- the client's own, '' for none
	claimed_actor_id   TEXT NOT NULL, -- whom the client says it acts for; unchecked
	claimed_actor_type TEXT NOT NULL,
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
	remote_ms         REAL NOT NULL, -- that a remote service bills
	gpu_ms            REAL NOT NULL, -- times the number of GPUs
	remote_cost       REAL NOT NULL, -- that a remote service reports
	egress_bytes      INTEGER NOT NULL, -- in both directions
	peak_memory_bytes INTEGER NOT NULL,
	memory_bytes      INTEGER NOT NULL, -- the limit
	inputs_hash       TEXT NOT NULL,
	outputs_hash      TEXT NOT NULL,
	isolation         TEXT NOT NULL,
	route_rule        TEXT NOT NULL, -- of the router
	route_reason      TEXT NOT NULL,
	trace_id          TEXT NOT NULL,
	server_id         TEXT NOT NULL,
	epoch             INTEGER NOT NULL,
	result_seq        INTEGER NOT NULL, -- of the result event, 0 before the end
	created_at        TIMESTAMP NOT NULL,
	started_at        TIMESTAMP,
	finished_at       TIMESTAMP,
	error             TEXT, -- JSON
	withheld          BOOLEAN NOT NULL, -- the record has only digests of what follows
	input             TEXT, -- JSON
	output            TEXT, -- JSON
	stdout            BLOB, -- a program may print any character, U+0000 too
	stderr            BLOB
);
-- Lists of runs merge one range per status, so that rare and old runs are found as fast as new ones, whatever the filter.
CREATE INDEX runs_newest ON runs (workspace_id, status, created_at, id);
CREATE INDEX runs_of_agent ON runs (agent_id, status, created_at, id) WHERE agent_id <> '';
CREATE INDEX runs_of_version ON runs (agent_id, version, status, created_at, id) WHERE agent_id <> '';
CREATE INDEX runs_by_version ON runs (workspace_id, version, status, created_at, id);
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

CREATE TABLE idempotency_keys (
	owner        TEXT NOT NULL,
	key          TEXT NOT NULL,
	workspace_id TEXT NOT NULL,
	body_hash    TEXT NOT NULL,
	status       INTEGER NOT NULL, -- 0 until the first request has its answer
	made_kind    TEXT NOT NULL, -- kind of the created thing, '' for nothing so far
	made_id      TEXT NOT NULL,
	server_id    TEXT NOT NULL,
	epoch        INTEGER NOT NULL,
	expires_at   TIMESTAMP NOT NULL,
	body         BLOB,
	PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_by_workspace ON idempotency_keys (workspace_id);

-- A value is encrypted with a key that is not in the database, together with workspace, agent, name and binding of its row.
CREATE TABLE secrets (
	workspace_id TEXT NOT NULL,
	agent_id     TEXT NOT NULL, -- '' for all agents of the workspace
	name         TEXT NOT NULL,
	key_id       TEXT NOT NULL,
	sealed       BLOB NOT NULL,
	bind_host    TEXT NOT NULL, -- '' for none
	bind_header  TEXT NOT NULL,
	bind_format  TEXT NOT NULL,
	set_by_id    TEXT NOT NULL,
	set_by_type  TEXT NOT NULL,
	set_by_name  TEXT NOT NULL,
	set_at       TIMESTAMP NOT NULL,
	last_used_at TIMESTAMP,
	PRIMARY KEY (workspace_id, agent_id, name)
) WITHOUT ROWID;

-- Runs that read a secret. There are no foreign keys: the secret may be removed, and the run too.
CREATE TABLE secret_uses (
	workspace_id TEXT NOT NULL,
	agent_id     TEXT NOT NULL, -- of the secret
	name         TEXT NOT NULL,
	used_at      TIMESTAMP NOT NULL,
	run_id       TEXT NOT NULL,
	run_agent_id TEXT NOT NULL,
	run_agent    TEXT NOT NULL,
	version      TEXT NOT NULL,
	PRIMARY KEY (workspace_id, agent_id, name, used_at, run_id)
) WITHOUT ROWID;
CREATE INDEX secret_uses_by_age ON secret_uses (used_at);

-- Use of a workspace in a calendar month (UTC). The transaction that finishes a run adds to it, and it outlives the run.
CREATE TABLE usage (
	workspace_id TEXT NOT NULL,
	month        TEXT NOT NULL, -- 2026-11
	meter        TEXT NOT NULL,
	amount       INTEGER NOT NULL, -- in the meter's smallest unit
	PRIMARY KEY (workspace_id, month, meter)
) WITHOUT ROWID;

-- Amounts that a workspace may use in a month.
CREATE TABLE budgets (
	workspace_id TEXT NOT NULL,
	name         TEXT NOT NULL,
	meter        TEXT NOT NULL, -- of usage, or cost
	amount       REAL NOT NULL,
	refuse       TEXT NOT NULL, -- remote, all, none
	updated_at   TIMESTAMP NOT NULL,
	updated_by   TEXT NOT NULL,
	PRIMARY KEY (workspace_id, name)
) WITHOUT ROWID;

-- Each part of a budget is warned about once in a month.
CREATE TABLE budget_warnings (
	workspace_id TEXT NOT NULL,
	budget       TEXT NOT NULL,
	month        TEXT NOT NULL,
	percent      INTEGER NOT NULL,
	warned_at    TIMESTAMP NOT NULL,
	PRIMARY KEY (workspace_id, budget, month, percent)
) WITHOUT ROWID;

-- A workspace's own quotas: NULL means the server's default, 0 means no limit.
CREATE TABLE quotas (
	workspace_id        TEXT PRIMARY KEY NOT NULL,
	concurrent_runs     INTEGER,
	runs_per_day        INTEGER,
	cpu_seconds_per_day INTEGER,
	storage_bytes       INTEGER
);

-- Settings of the gate of a workspace, as JSON. A workspace without a row has the defaults.
CREATE TABLE gates (
	workspace_id TEXT PRIMARY KEY NOT NULL,
	settings     TEXT NOT NULL,
	revision     INTEGER NOT NULL
);

-- Workspaces that have switched the language model off or chosen one. A workspace without a row uses the server's.
CREATE TABLE llm_switches (
	workspace_id TEXT PRIMARY KEY NOT NULL,
	off          BOOLEAN NOT NULL,
	model        TEXT NOT NULL -- '' for the server's
);

-- Tokens of the language model that a workspace used in a month (UTC), such as 2026-11.
CREATE TABLE llm_use (
	workspace_id TEXT NOT NULL,
	month        TEXT NOT NULL,
	input        INTEGER NOT NULL,
	output       INTEGER NOT NULL,
	PRIMARY KEY (workspace_id, month)
) WITHOUT ROWID;

-- Rule packs that workspaces wrote.
CREATE TABLE rule_packs (
	workspace_id TEXT NOT NULL,
	name         TEXT NOT NULL,
	source       TEXT NOT NULL, -- YAML
	updated_at   TIMESTAMP NOT NULL,
	updated_by   TEXT NOT NULL,
	PRIMARY KEY (workspace_id, name)
) WITHOUT ROWID;

-- Requests that wait for a person, and those that were decided. There are no foreign keys: a request outlives its run.
CREATE TABLE approvals (
	id              TEXT PRIMARY KEY NOT NULL,
	workspace_id    TEXT NOT NULL,
	kind            TEXT NOT NULL, -- run, publish
	status          TEXT NOT NULL, -- pending, approved, denied, expired, withdrawn
	agent_id        TEXT NOT NULL, -- '' for inline code
	agent_name      TEXT NOT NULL,
	version         TEXT NOT NULL,
	digest          TEXT NOT NULL,
	content_digest  TEXT NOT NULL,
	run_id          TEXT NOT NULL, -- '' for a publication
	request_id      TEXT NOT NULL, -- of the client, '' for none
	requester_id    TEXT NOT NULL,
	requester_type  TEXT NOT NULL,
	requester_name  TEXT NOT NULL,
	created_at      TIMESTAMP NOT NULL,
	expires_at      TIMESTAMP NOT NULL,
	scope           TEXT NOT NULL, -- once, version, caller; '' before the decision
	decided_by_id   TEXT NOT NULL,
	decided_by_type TEXT NOT NULL,
	decided_by_name TEXT NOT NULL,
	decided_at      TIMESTAMP,
	comment         TEXT NOT NULL,
	outcome         TEXT NOT NULL,
	carried_out     BOOLEAN NOT NULL, -- what was approved has been started, and what was denied has ended
	reasons         TEXT NOT NULL, -- JSON
	verdict         TEXT, -- JSON
	policy_version  TEXT NOT NULL, -- digest of the rules of the gate
	input           TEXT, -- JSON; NULL after it was carried out
	request         TEXT NOT NULL -- JSON: what happens after the approval; '' after it was carried out
);
CREATE INDEX approvals_newest ON approvals (workspace_id, status, created_at, id);
CREATE INDEX approvals_of_version ON approvals (workspace_id, agent_id, digest) WHERE status = 'approved';
CREATE INDEX approvals_of_request ON approvals (workspace_id, request_id) WHERE request_id <> '';
CREATE INDEX approvals_of_run ON approvals (run_id) WHERE run_id <> '';
CREATE INDEX approvals_open ON approvals (status, expires_at) WHERE status = 'pending';
CREATE INDEX approvals_to_do ON approvals (carried_out) WHERE status <> 'pending' AND carried_out = FALSE;
CREATE UNIQUE INDEX approvals_publication ON approvals (workspace_id, agent_id, version) WHERE kind = 'publish' AND status = 'pending';

-- Webhooks about requests for approval and budgets, inserted together with the request, its end, or the warning.
CREATE TABLE approval_deliveries (
	id           TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	approval_id  TEXT NOT NULL, -- '' for a budget
	event        TEXT NOT NULL,
	state        TEXT NOT NULL, -- pending, delivered, failed
	attempts     INTEGER NOT NULL,
	last_error   TEXT NOT NULL,
	created_at   TIMESTAMP NOT NULL,
	next_at      TIMESTAMP, -- NULL after the last attempt
	delivered_at TIMESTAMP,
	payload      TEXT NOT NULL -- JSON
);
CREATE INDEX approval_deliveries_newest ON approval_deliveries (workspace_id, id);
CREATE INDEX approval_deliveries_of_approval ON approval_deliveries (approval_id, id);
CREATE INDEX approval_deliveries_due ON approval_deliveries (next_at, id) WHERE state = 'pending';

-- A project is a tree of files. Its tree and every file are contents, named by their digests.
CREATE TABLE projects (
	id            TEXT PRIMARY KEY NOT NULL,
	workspace_id  TEXT NOT NULL,
	name          TEXT NOT NULL,
	description   TEXT NOT NULL,
	tree          TEXT NOT NULL, -- digest
	change_number INTEGER NOT NULL, -- of the last change
	files         INTEGER NOT NULL,
	bytes         INTEGER NOT NULL,
	created_at    TIMESTAMP NOT NULL,
	updated_at    TIMESTAMP NOT NULL,
	UNIQUE (workspace_id, name)
);

-- Imports and accepted overlays of a project, numbered from 1.
CREATE TABLE project_changes (
	project_id   TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
	number       INTEGER NOT NULL,
	workspace_id TEXT NOT NULL,
	tree         TEXT NOT NULL, -- digest
	summary      TEXT NOT NULL,
	overlay_id   TEXT NOT NULL, -- '' for an import
	run_id       TEXT NOT NULL,
	actor_id     TEXT NOT NULL,
	actor_type   TEXT NOT NULL,
	actor_name   TEXT NOT NULL,
	created_at   TIMESTAMP NOT NULL,
	paths        TEXT NOT NULL, -- JSON list
	PRIMARY KEY (project_id, number)
) WITHOUT ROWID;

-- The changes that one run proposes to a project. There is no foreign key to runs: an overlay outlives its run.
CREATE TABLE overlays (
	id              TEXT PRIMARY KEY NOT NULL,
	workspace_id    TEXT NOT NULL,
	project_id      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
	run_id          TEXT NOT NULL,
	run_status      TEXT NOT NULL,
	agent_name      TEXT NOT NULL,
	version         TEXT NOT NULL,
	base_tree       TEXT NOT NULL, -- digest of the tree that the run read
	base_change     INTEGER NOT NULL,
	status          TEXT NOT NULL, -- open, accepted, rejected, expired
	revision        INTEGER NOT NULL, -- grows with each decision
	summary         TEXT NOT NULL,
	created_at      TIMESTAMP NOT NULL,
	expires_at      TIMESTAMP NOT NULL,
	decided_at      TIMESTAMP,
	decided_by_id   TEXT NOT NULL,
	decided_by_type TEXT NOT NULL,
	decided_by_name TEXT NOT NULL,
	entries         TEXT NOT NULL -- JSON list
);
CREATE INDEX overlays_newest ON overlays (project_id, created_at, id);
CREATE INDEX overlays_of_run ON overlays (run_id);
CREATE INDEX overlays_open ON overlays (status, expires_at) WHERE status = 'open';

-- Orders to change the files of a project with an agent. A server that works on one writes its name into the row.
CREATE TABLE tasks (
	id           TEXT PRIMARY KEY NOT NULL,
	workspace_id TEXT NOT NULL,
	project_id   TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
	title        TEXT NOT NULL,
	description  TEXT NOT NULL, -- '' for a task of an agent
	language     TEXT NOT NULL, -- of the program that the language model writes
	agent_id     TEXT NOT NULL,
	agent_name   TEXT NOT NULL,
	version      TEXT NOT NULL,
	priority     INTEGER NOT NULL,
	status       TEXT NOT NULL,
	attempt      INTEGER NOT NULL,
	resumed      BOOLEAN NOT NULL, -- queued again after the server stopped
	run_id       TEXT NOT NULL,
	overlay_id   TEXT NOT NULL,
	summary      TEXT NOT NULL,
	files        INTEGER NOT NULL,
	error        TEXT NOT NULL, -- JSON, '' for none
	revision     INTEGER NOT NULL,
	server_id    TEXT NOT NULL, -- '' while no server works on it
	epoch        INTEGER NOT NULL,
	actor_id     TEXT NOT NULL,
	actor_type   TEXT NOT NULL,
	actor_name   TEXT NOT NULL,
	created_at   TIMESTAMP NOT NULL,
	queued_at    TIMESTAMP NOT NULL,
	due_at       TIMESTAMP NOT NULL, -- queued_at minus ten minutes for each step of priority
	updated_at   TIMESTAMP NOT NULL,
	finished_at  TIMESTAMP,
	feedback     TEXT NOT NULL,
	input        TEXT NOT NULL, -- JSON
	program      TEXT NOT NULL -- JSON, '' for none
);
CREATE INDEX tasks_newest ON tasks (workspace_id, created_at, id);
CREATE INDEX tasks_of_project ON tasks (project_id);
CREATE INDEX tasks_queued ON tasks (workspace_id, due_at, id) WHERE status = 'queued';
CREATE INDEX tasks_active ON tasks (status) WHERE status IN ('spawning', 'generating', 'executing', 'submitting');
CREATE INDEX tasks_of_overlay ON tasks (overlay_id) WHERE overlay_id <> '';

CREATE TABLE task_events (
	task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
	seq     INTEGER NOT NULL, -- counts from 1
	at      TIMESTAMP NOT NULL,
	kind    TEXT NOT NULL,
	data    TEXT NOT NULL, -- JSON
	PRIMARY KEY (task_id, seq)
) WITHOUT ROWID;

-- Files and trees of projects and overlays. Equal bytes are stored once in each workspace.
CREATE TABLE contents (
	workspace_id TEXT NOT NULL,
	digest       TEXT NOT NULL,
	stored_at    TIMESTAMP NOT NULL,
	bytes        BLOB NOT NULL,
	PRIMARY KEY (workspace_id, digest)
);

-- A new server has one workspace and its administrator.
INSERT INTO workspaces (id, name, title, created_at) VALUES ('default', 'default', 'Default', strftime('%Y-%m-%d %H:%M:%S+00:00', 'now'));
INSERT INTO users (id, name, title, password, created_at) VALUES ('admin', 'admin', 'Administrator', '', strftime('%Y-%m-%d %H:%M:%S+00:00', 'now'));
INSERT INTO memberships (workspace_id, user_id, role, created_at) VALUES ('default', 'admin', 'administrator', strftime('%Y-%m-%d %H:%M:%S+00:00', 'now'));
