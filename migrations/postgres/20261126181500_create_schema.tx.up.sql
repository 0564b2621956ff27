-- Workspaces are tenants. A closed workspace keeps its rows and its name, and nobody enters it.
CREATE TABLE workspaces (
	id         text PRIMARY KEY,
	name       text NOT NULL UNIQUE,
	title      text NOT NULL,
	created_at timestamptz NOT NULL,
	closed_at  timestamptz
);

CREATE TABLE users (
	id         text PRIMARY KEY,
	name       text NOT NULL UNIQUE, -- for signing in
	title      text NOT NULL, -- for other people
	password   text NOT NULL, -- argon2id with its parameters and salt; '' for none
	created_at timestamptz NOT NULL
);

CREATE TABLE memberships (
	workspace_id text NOT NULL REFERENCES workspaces (id),
	user_id      text NOT NULL REFERENCES users (id),
	role         text NOT NULL CHECK (role IN ('viewer', 'developer', 'approver', 'administrator')),
	created_at   timestamptz NOT NULL,
	PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX memberships_of_user ON memberships (user_id);

-- Invitations are one-time links by which people become members. Only hashes of their secrets are kept.
CREATE TABLE invitations (
	id              text PRIMARY KEY,
	workspace_id    text NOT NULL REFERENCES workspaces (id),
	hash            text NOT NULL UNIQUE,
	role            text NOT NULL CHECK (role IN ('viewer', 'developer', 'approver', 'administrator')),
	note            text NOT NULL, -- the name of the invited person
	created_by_id   text NOT NULL,
	created_by_type text NOT NULL,
	created_by_name text NOT NULL,
	created_at      timestamptz NOT NULL,
	expires_at      timestamptz NOT NULL
);
CREATE INDEX invitations_of_workspace ON invitations (workspace_id, created_at);

-- A person's identity at the provider of logins. The user is stored after it in the same transaction.
CREATE TABLE identities (
	issuer     text NOT NULL,
	subject    text NOT NULL,
	user_id    text NOT NULL UNIQUE REFERENCES users (id) DEFERRABLE INITIALLY DEFERRED,
	created_at timestamptz NOT NULL,
	PRIMARY KEY (issuer, subject)
);

-- Only hashes of tokens, sessions and links are kept.
CREATE TABLE tokens (
	id              text COLLATE "C" PRIMARY KEY,
	workspace_id    text NOT NULL,
	name            text NOT NULL,
	hash            text NOT NULL UNIQUE,
	user_id         text NOT NULL, -- the token may do no more than this user; '' for the server's own tokens
	scopes          text NOT NULL, -- JSON array of strings
	agents          text NOT NULL, -- JSON array of agents' ids and names; empty for all
	created_by_id   text NOT NULL,
	created_by_type text NOT NULL,
	created_by_name text NOT NULL,
	created_at      timestamptz NOT NULL,
	last_used_at    timestamptz,
	expires_at      timestamptz,
	revoked_at      timestamptz
);
CREATE INDEX tokens_newest ON tokens (workspace_id, created_at, id);
CREATE INDEX tokens_of_user ON tokens (user_id) WHERE user_id <> '';

CREATE TABLE sessions (
	hash         text PRIMARY KEY,
	workspace_id text NOT NULL,
	actor_id     text NOT NULL,
	actor_type   text NOT NULL,
	actor_name   text NOT NULL,
	address      text NOT NULL, -- address and browser describe the session to the person who may end it
	browser      text NOT NULL,
	created_at   timestamptz NOT NULL,
	last_used_at timestamptz,
	expires_at   timestamptz NOT NULL
);

CREATE TABLE login_links (
	hash         text PRIMARY KEY,
	workspace_id text NOT NULL,
	user_id      text NOT NULL,
	expires_at   timestamptz NOT NULL
);

-- Wrong secrets from one network, and until when they count. They are stored so that a restart does not allow ten more guesses.
CREATE TABLE login_failures (
	source   text PRIMARY KEY,
	failures integer NOT NULL,
	until    timestamptz NOT NULL
);

CREATE TABLE agents (
	id                text COLLATE "C" PRIMARY KEY,
	workspace_id      text NOT NULL,
	name              text COLLATE "C" NOT NULL,
	title             text NOT NULL,
	description       text NOT NULL,
	tags              jsonb NOT NULL, -- array of strings
	metadata          json,          -- json, not jsonb: a client reads its own object as it sent it
	language          text NOT NULL, -- of the draft
	search_text       text NOT NULL, -- lower-case name, title, description and tags
	listed            boolean NOT NULL,
	listing_language  text NOT NULL, -- of the latest version, while the agent is listed
	listing_text      text NOT NULL, -- lower-case name, title, description and tags of the latest version, while the agent is listed
	latest_version    text NOT NULL, -- the version that name@latest resolves to
	latest_deprecated boolean NOT NULL,
	version_count     bigint NOT NULL,
	origin            text NOT NULL, -- the source of a copied agent; '' for an agent that was created here
	created_by_id     text NOT NULL,
	created_by_type   text NOT NULL,
	created_by_name   text NOT NULL,
	updated_by_id     text NOT NULL,
	updated_by_type   text NOT NULL,
	updated_by_name   text NOT NULL,
	created_at        timestamptz NOT NULL,
	updated_at        timestamptz NOT NULL,
	deleted_at        timestamptz,
	deletion          text NOT NULL -- who deleted the agent and why; '' for an agent that exists
);
CREATE INDEX agents_by_name ON agents (workspace_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX agents_by_update ON agents (workspace_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX agents_deleted ON agents (workspace_id, name, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX agents_listed ON agents (name, id) WHERE listed AND deleted_at IS NULL AND latest_version <> '';

-- Every name that an agent with versions ever had, so that name@1.2.0 never refers to anything else: a deleted agent
-- keeps its name, a renamed one its former names.
CREATE TABLE agent_names (
	workspace_id text NOT NULL,
	name_key     text COLLATE "C" NOT NULL, -- the name with '-' as '_'
	agent_id     text COLLATE "C" NOT NULL REFERENCES agents (id),
	PRIMARY KEY (workspace_id, name_key)
);
CREATE INDEX agent_names_by_agent ON agent_names (agent_id);

-- A draft has its own table because it is large and an agent is read often.
CREATE TABLE drafts (
	agent_id      text COLLATE "C" PRIMARY KEY REFERENCES agents (id),
	workspace_id  text NOT NULL,
	revision      bigint NOT NULL,
	language      text NOT NULL,
	runtime       text NOT NULL,
	saved_by_id   text NOT NULL,
	saved_by_type text NOT NULL,
	saved_by_name text NOT NULL,
	saved_at      timestamptz NOT NULL,
	authored      text NOT NULL, -- digest without what publishing decides; '' if the spec has none
	spec          json NOT NULL, -- without files; json keeps the order of properties, which digests and schemas need
	files         json NOT NULL  -- path to content
);

-- The history of drafts. Contents have their own table, so that saves share the files that did not change.
CREATE TABLE draft_saves (
	agent_id      text COLLATE "C" NOT NULL REFERENCES agents (id),
	revision      bigint NOT NULL,
	workspace_id  text NOT NULL,
	saved_by_id   text NOT NULL,
	saved_by_type text NOT NULL,
	saved_by_name text NOT NULL,
	saved_at      timestamptz NOT NULL,
	began_at      timestamptz NOT NULL, -- time of the first save that shares this row
	session       text NOT NULL, -- of the browser that saved; '' for other clients
	label         text NOT NULL,
	spec          json NOT NULL, -- without files
	files         json NOT NULL, -- path to digest of the content
	PRIMARY KEY (agent_id, revision)
);

CREATE TABLE draft_contents (
	agent_id     text COLLATE "C" NOT NULL REFERENCES agents (id),
	digest       text COLLATE "C" NOT NULL,
	workspace_id text NOT NULL,
	content      bytea NOT NULL,
	PRIMARY KEY (agent_id, digest)
);

-- Usage has its own table because every run writes it. It has no foreign key, so that it never rejects a run's record.
CREATE TABLE agent_usage (
	agent_id     text COLLATE "C" PRIMARY KEY,
	workspace_id text NOT NULL,
	run_count    bigint NOT NULL,
	last_used_at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE versions (
	id                   text COLLATE "C" PRIMARY KEY,
	workspace_id         text NOT NULL,
	agent_id             text COLLATE "C" NOT NULL REFERENCES agents (id),
	agent_name           text NOT NULL, -- at the time of publishing, because the digest covers it
	version              text COLLATE "C" NOT NULL,
	digest               text NOT NULL,
	content_digest       text NOT NULL,
	code_digest          text NOT NULL,
	authored             text NOT NULL, -- like that of a draft
	title                text NOT NULL,
	description          text NOT NULL,
	language             text NOT NULL,
	runtime              text NOT NULL,
	runtime_choice       json, -- why auto chose the runtime
	runtime_auto         boolean NOT NULL, -- the author left the choice to the server
	verdict              json, -- the verdict of the gate when it was published
	published_by_id      text NOT NULL,
	published_by_type    text NOT NULL,
	published_by_name    text NOT NULL,
	published_at         timestamptz NOT NULL,
	deprecated           boolean NOT NULL,
	deprecated_reason    text NOT NULL,
	deprecated_successor text NOT NULL, -- a reference to use instead
	changelog            text NOT NULL,
	override             json, -- why the version is lower than advised
	files_digest         text, -- of the blob that holds the files when they are large
	spec                 json NOT NULL, -- without files; json keeps the order of properties, which digests and schemas need
	files                json, -- path to content
	tests                json, -- list of cases
	regressions          json, -- the failed checks that the publisher accepted
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
CREATE FUNCTION refuse_version_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'a published version is immutable';
END
$$;
CREATE TRIGGER versions_are_immutable BEFORE UPDATE OF id, workspace_id, agent_id, agent_name, version, digest,
	content_digest, code_digest, authored, title, description, language, runtime, published_by_id, published_by_type,
	published_by_name, published_at, changelog, override, runtime_choice, runtime_auto, verdict, files_digest, spec, files, tests, regressions ON versions
	FOR EACH ROW EXECUTE FUNCTION refuse_version_change();
CREATE TRIGGER versions_are_kept BEFORE DELETE ON versions
	FOR EACH ROW EXECUTE FUNCTION refuse_version_change();

-- References to agents from outside: nodes of workflows, sets of tools, other agents.
CREATE TABLE pins (
	workspace_id text NOT NULL,
	owner        text NOT NULL, -- an identifier of the owner's choice
	agent_id     text NOT NULL REFERENCES agents (id),
	version      text NOT NULL, -- as in a reference: 1.2.0, ^1, latest, sha256:…
	label        text NOT NULL, -- the owner's name for people
	created_at   timestamptz NOT NULL,
	PRIMARY KEY (workspace_id, owner, agent_id, version)
);
CREATE INDEX pins_by_agent ON pins (agent_id);

-- Agents that are skills too. Their versions are in table versions.
CREATE TABLE skills (
	agent_id          text PRIMARY KEY REFERENCES agents (id),
	workspace_id      text NOT NULL,
	origin            text NOT NULL, -- builtin, folder, archive, url, created, registered, registry
	source            text NOT NULL, -- an address or the name of an archive, '' otherwise
	handler           text NOT NULL, -- as in skill.yaml
	drafted           boolean NOT NULL, -- the agent's draft waits to be promoted
	claims            text NOT NULL, -- a client's statements about the code; recorded and never trusted
	installed_at      timestamptz NOT NULL,
	installed_by_id   text NOT NULL,
	installed_by_type text NOT NULL,
	installed_by_name text NOT NULL
);
CREATE INDEX skills_by_workspace ON skills (workspace_id);

-- Tool sets pin several versions under one name. tools is a JSON list of agentId, name, version and digest.
CREATE TABLE tool_sets (
	id           text PRIMARY KEY,
	workspace_id text NOT NULL,
	name         text NOT NULL,
	title        text NOT NULL,
	description  text NOT NULL,
	tools        text NOT NULL,
	created_at   timestamptz NOT NULL,
	updated_at   timestamptz NOT NULL,
	updated_by   text NOT NULL,
	UNIQUE (workspace_id, name)
);

-- The exact packages for a list of packages of a draft, or of inline programs with the agent ''. A version has its own lock.
CREATE TABLE package_locks (
	workspace_id text NOT NULL,
	agent_id     text NOT NULL,
	list         text NOT NULL, -- digest of language, platform and requirements
	lock         text NOT NULL, -- JSON
	created_at   timestamptz NOT NULL,
	used_at      timestamptz NOT NULL,
	PRIMARY KEY (workspace_id, agent_id, list)
);

-- Servers that have the database open. A run and an idempotency key name the server that works on them and its epoch. A
-- server or epoch without a row here has ended and may no longer write either.
CREATE TABLE servers (
	id         text COLLATE "C" PRIMARY KEY,
	epoch      bigint NOT NULL UNIQUE, -- grows each time a server opens the database
	started_at timestamptz NOT NULL,
	seen_at    timestamptz NOT NULL, -- last probe of a write
	address    text NOT NULL, -- for people; '' for a server that is alone
	lease_until timestamptz -- by the clock of the database; NULL for a server that is alone
);

-- Requests to cancel a run that another server executes. That server removes them.
CREATE TABLE run_cancellations (
	run_id       text COLLATE "C" PRIMARY KEY,
	workspace_id text NOT NULL,
	server_id    text COLLATE "C" NOT NULL,
	created_at   timestamptz NOT NULL
);
CREATE INDEX run_cancellations_by_server ON run_cancellations (server_id);

-- Jobs at other services that a restarted server continues to follow, until their runs have ended.
CREATE TABLE remote_jobs (
	run_id       text COLLATE "C" PRIMARY KEY,
	workspace_id text NOT NULL,
	handle       text NOT NULL,
	request      bytea NOT NULL,
	created_at   timestamptz NOT NULL
);

-- What each of several servers counts for the quotas of workspaces.
CREATE TABLE quota_shares (
	server_id    text COLLATE "C" NOT NULL,
	workspace_id text NOT NULL,
	day          timestamptz NOT NULL,
	live         bigint NOT NULL, -- runs at this moment
	runs         bigint NOT NULL, -- of the day, since the server started
	cpu_ms       double precision NOT NULL,
	PRIMARY KEY (server_id, workspace_id)
);

-- A run has no foreign key to agents or versions, because its record must never be rejected and outlives them. Documents
-- are json, not jsonb: they are read byte for byte, as their hashes need, and may contain \u0000.
CREATE TABLE runs (
	id                text COLLATE "C" PRIMARY KEY,
	workspace_id      text NOT NULL,
	agent_id          text COLLATE "C" NOT NULL, -- '' for inline code
	agent_name        text NOT NULL,
	version           text NOT NULL, -- '' for inline code, 'draft' for a draft
	draft_revision    bigint NOT NULL, -- 0 unless a draft ran
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
	request_id        TEXT NOT NULL, -- the client's own, '' for none
	claimed_actor_id   TEXT NOT NULL, -- whom the client says it acts for; unchecked
	claimed_actor_type TEXT NOT NULL,
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
	remote_ms         double precision NOT NULL, -- that a remote service bills
	gpu_ms            double precision NOT NULL, -- times the number of GPUs
	remote_cost       double precision NOT NULL, -- that a remote service reports
	egress_bytes      bigint NOT NULL, -- in both directions
	peak_memory_bytes bigint NOT NULL,
	memory_bytes      bigint NOT NULL, -- the limit
	inputs_hash       text NOT NULL,
	outputs_hash      text NOT NULL,
	isolation         text NOT NULL,
	route_rule        text NOT NULL, -- of the router
	route_reason      text NOT NULL,
	trace_id          text NOT NULL,
	server_id         text COLLATE "C" NOT NULL,
	epoch             bigint NOT NULL,
	result_seq        bigint NOT NULL, -- of the result event, 0 before the end
	created_at        timestamptz NOT NULL,
	started_at        timestamptz,
	finished_at       timestamptz,
	error             json,
	withheld          boolean NOT NULL, -- the record has only digests of what follows
	input             json,
	output            json,
	stdout            bytea, -- a program may print any character, U+0000 too
	stderr            bytea
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
	run_id       text COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
	seq          bigint NOT NULL,
	workspace_id text NOT NULL,
	at           timestamptz NOT NULL,
	kind         text NOT NULL,
	data         json NOT NULL,
	PRIMARY KEY (run_id, seq)
);

CREATE TABLE idempotency_keys (
	owner        text NOT NULL,
	key          text NOT NULL,
	workspace_id text NOT NULL,
	body_hash    text NOT NULL,
	status       bigint NOT NULL, -- 0 until the first request has its answer
	made_kind    text NOT NULL, -- kind of the created thing, '' for nothing so far
	made_id      text NOT NULL,
	server_id    text COLLATE "C" NOT NULL,
	epoch        bigint NOT NULL,
	expires_at   timestamptz NOT NULL,
	body         bytea,
	PRIMARY KEY (owner, key)
);
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at);
CREATE INDEX idempotency_keys_by_workspace ON idempotency_keys (workspace_id);

-- A value is encrypted with a key that is not in the database, together with workspace, agent, name and binding of its row.
CREATE TABLE secrets (
	workspace_id text NOT NULL,
	agent_id     text NOT NULL, -- '' for all agents of the workspace
	name         text NOT NULL,
	key_id       text NOT NULL,
	sealed       bytea NOT NULL,
	bind_host    text NOT NULL, -- '' for none
	bind_header  text NOT NULL,
	bind_format  text NOT NULL,
	set_by_id    text NOT NULL,
	set_by_type  text NOT NULL,
	set_by_name  text NOT NULL,
	set_at       timestamptz NOT NULL,
	last_used_at timestamptz,
	PRIMARY KEY (workspace_id, agent_id, name)
);

-- Runs that read a secret. There are no foreign keys: the secret may be removed, and the run too.
CREATE TABLE secret_uses (
	workspace_id text NOT NULL,
	agent_id     text NOT NULL, -- of the secret
	name         text NOT NULL,
	used_at      timestamptz NOT NULL,
	run_id       text NOT NULL,
	run_agent_id text NOT NULL,
	run_agent    text NOT NULL,
	version      text NOT NULL,
	PRIMARY KEY (workspace_id, agent_id, name, used_at, run_id)
);
CREATE INDEX secret_uses_by_age ON secret_uses (used_at);

-- Use of a workspace in a calendar month (UTC). The transaction that finishes a run adds to it, and it outlives the run.
CREATE TABLE usage (
	workspace_id text NOT NULL,
	month        text NOT NULL, -- 2026-11
	meter        text NOT NULL,
	amount       bigint NOT NULL, -- in the meter's smallest unit
	PRIMARY KEY (workspace_id, month, meter)
);

-- Amounts that a workspace may use in a month.
CREATE TABLE budgets (
	workspace_id text NOT NULL,
	name         text NOT NULL,
	meter        text NOT NULL, -- of usage, or cost
	amount       double precision NOT NULL,
	refuse       text NOT NULL, -- remote, all, none
	updated_at   timestamptz NOT NULL,
	updated_by   text NOT NULL,
	PRIMARY KEY (workspace_id, name)
);

-- Each part of a budget is warned about once in a month.
CREATE TABLE budget_warnings (
	workspace_id text NOT NULL,
	budget       text NOT NULL,
	month        text NOT NULL,
	percent      integer NOT NULL,
	warned_at    timestamptz NOT NULL,
	PRIMARY KEY (workspace_id, budget, month, percent)
);

-- A workspace's own quotas: NULL means the server's default, 0 means no limit.
CREATE TABLE quotas (
	workspace_id        text PRIMARY KEY,
	concurrent_runs     bigint,
	runs_per_day        bigint,
	cpu_seconds_per_day bigint,
	storage_bytes       bigint
);

-- Settings of the gate of a workspace, as JSON. A workspace without a row has the defaults.
CREATE TABLE gates (
	workspace_id text PRIMARY KEY,
	settings     text NOT NULL,
	revision     bigint NOT NULL
);

-- Workspaces that have switched the language model off or chosen one. A workspace without a row uses the server's.
CREATE TABLE llm_switches (
	workspace_id text PRIMARY KEY,
	off          boolean NOT NULL,
	model        TEXT NOT NULL -- '' for the server's
);

-- Tokens of the language model that a workspace used in a month (UTC), such as 2026-11.
CREATE TABLE llm_use (
	workspace_id text NOT NULL,
	month        text NOT NULL,
	input        bigint NOT NULL,
	output       bigint NOT NULL,
	PRIMARY KEY (workspace_id, month)
);

-- Rule packs that workspaces wrote.
CREATE TABLE rule_packs (
	workspace_id text NOT NULL,
	name         text NOT NULL,
	source       text NOT NULL, -- YAML
	updated_at   timestamptz NOT NULL,
	updated_by   text NOT NULL,
	PRIMARY KEY (workspace_id, name)
);

-- Requests that wait for a person, and those that were decided. There are no foreign keys: a request outlives its run.
CREATE TABLE approvals (
	id              text PRIMARY KEY,
	workspace_id    text NOT NULL,
	kind            text NOT NULL, -- run, publish
	status          text NOT NULL, -- pending, approved, denied, expired, withdrawn
	agent_id        text NOT NULL, -- '' for inline code
	agent_name      text NOT NULL,
	version         text NOT NULL,
	digest          text NOT NULL,
	content_digest  text NOT NULL,
	run_id          text NOT NULL, -- '' for a publication
	request_id      text NOT NULL, -- of the client, '' for none
	requester_id    text NOT NULL,
	requester_type  text NOT NULL,
	requester_name  text NOT NULL,
	created_at      timestamptz NOT NULL,
	expires_at      timestamptz NOT NULL,
	scope           text NOT NULL, -- once, version, caller; '' before the decision
	decided_by_id   text NOT NULL,
	decided_by_type text NOT NULL,
	decided_by_name text NOT NULL,
	decided_at      timestamptz,
	comment         text NOT NULL,
	outcome         text NOT NULL,
	carried_out     boolean NOT NULL, -- what was approved has been started, and what was denied has ended
	reasons         text NOT NULL, -- JSON
	verdict         text, -- JSON
	policy_version  TEXT NOT NULL, -- digest of the rules of the gate
	input           text, -- JSON
	request         text NOT NULL -- JSON: what happens after the approval
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
	created_at   timestamptz NOT NULL,
	next_at      timestamptz, -- NULL after the last attempt
	delivered_at timestamptz,
	payload      TEXT NOT NULL -- JSON
);
CREATE INDEX approval_deliveries_newest ON approval_deliveries (workspace_id, id);
CREATE INDEX approval_deliveries_of_approval ON approval_deliveries (approval_id, id);
CREATE INDEX approval_deliveries_due ON approval_deliveries (next_at, id) WHERE state = 'pending';

-- A project is a tree of files. Its tree and every file are contents, named by their digests.
CREATE TABLE projects (
	id            text COLLATE "C" PRIMARY KEY,
	workspace_id  text NOT NULL,
	name          text COLLATE "C" NOT NULL,
	description   text NOT NULL,
	tree          text NOT NULL, -- digest
	change_number bigint NOT NULL, -- of the last change
	files         bigint NOT NULL,
	bytes         bigint NOT NULL,
	created_at    timestamptz NOT NULL,
	updated_at    timestamptz NOT NULL,
	UNIQUE (workspace_id, name)
);

-- Imports and accepted overlays of a project, numbered from 1.
CREATE TABLE project_changes (
	project_id   text COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
	number       bigint NOT NULL,
	workspace_id text NOT NULL,
	tree         text NOT NULL, -- digest
	summary      text NOT NULL,
	overlay_id   text NOT NULL, -- '' for an import
	run_id       text NOT NULL,
	actor_id     text NOT NULL,
	actor_type   text NOT NULL,
	actor_name   text NOT NULL,
	created_at   timestamptz NOT NULL,
	paths        text NOT NULL, -- JSON list
	PRIMARY KEY (project_id, number)
);

-- The changes that one run proposes to a project. There is no foreign key to runs: an overlay outlives its run.
CREATE TABLE overlays (
	id              text COLLATE "C" PRIMARY KEY,
	workspace_id    text NOT NULL,
	project_id      text COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
	run_id          text NOT NULL,
	run_status      text NOT NULL,
	agent_name      text NOT NULL,
	version         text NOT NULL,
	base_tree       text NOT NULL, -- digest of the tree that the run read
	base_change     bigint NOT NULL,
	status          text NOT NULL, -- open, accepted, rejected, expired
	revision        bigint NOT NULL, -- grows with each decision
	summary         text NOT NULL,
	created_at      timestamptz NOT NULL,
	expires_at      timestamptz NOT NULL,
	decided_at      timestamptz,
	decided_by_id   text NOT NULL,
	decided_by_type text NOT NULL,
	decided_by_name text NOT NULL,
	entries         text NOT NULL -- JSON list
);
CREATE INDEX overlays_newest ON overlays (project_id, created_at, id);
CREATE INDEX overlays_of_run ON overlays (run_id);
CREATE INDEX overlays_open ON overlays (status, expires_at) WHERE status = 'open';

-- Orders to change the files of a project with an agent. A server that works on one writes its name into the row.
CREATE TABLE tasks (
	id           text COLLATE "C" PRIMARY KEY,
	workspace_id text NOT NULL,
	project_id   text COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
	title        text NOT NULL,
	description  text NOT NULL, -- '' for a task of an agent
	language     text NOT NULL, -- of the program that the language model writes
	agent_id     text COLLATE "C" NOT NULL,
	agent_name   text NOT NULL,
	version      text NOT NULL,
	priority     bigint NOT NULL,
	status       text NOT NULL,
	attempt      bigint NOT NULL,
	resumed      boolean NOT NULL, -- queued again after the server stopped
	run_id       text NOT NULL,
	overlay_id   text NOT NULL,
	summary      text NOT NULL,
	files        bigint NOT NULL,
	error        text NOT NULL, -- JSON, '' for none
	revision     bigint NOT NULL,
	server_id    text COLLATE "C" NOT NULL, -- '' while no server works on it
	epoch        bigint NOT NULL,
	actor_id     text NOT NULL,
	actor_type   text NOT NULL,
	actor_name   text NOT NULL,
	created_at   timestamptz NOT NULL,
	queued_at    timestamptz NOT NULL,
	due_at       timestamptz NOT NULL, -- queued_at minus ten minutes for each step of priority
	updated_at   timestamptz NOT NULL,
	finished_at  timestamptz,
	feedback     text NOT NULL,
	input        text NOT NULL, -- JSON
	program      text NOT NULL -- JSON, '' for none
);
CREATE INDEX tasks_newest ON tasks (workspace_id, created_at, id);
CREATE INDEX tasks_of_project ON tasks (project_id);
CREATE INDEX tasks_queued ON tasks (workspace_id, due_at, id) WHERE status = 'queued';
CREATE INDEX tasks_active ON tasks (status) WHERE status IN ('spawning', 'generating', 'executing', 'submitting');
CREATE INDEX tasks_of_overlay ON tasks (overlay_id) WHERE overlay_id <> '';

CREATE TABLE task_events (
	task_id text COLLATE "C" NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
	seq     bigint NOT NULL, -- counts from 1
	at      timestamptz NOT NULL,
	kind    text NOT NULL,
	data    text NOT NULL, -- JSON
	PRIMARY KEY (task_id, seq)
);

-- Files and trees of projects and overlays. Equal bytes are stored once in each workspace.
CREATE TABLE contents (
	workspace_id text NOT NULL,
	digest       text COLLATE "C" NOT NULL,
	stored_at    timestamptz NOT NULL,
	bytes        bytea NOT NULL,
	PRIMARY KEY (workspace_id, digest)
);

-- Servers that share the database keep some of it in memory. A transaction that changes it tells them by NOTIFY: what
-- changed, where, the name of the connection, which names the server, and perhaps data.
CREATE FUNCTION notify_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('atelier', 'changed ' || TG_TABLE_NAME || ' ' || current_setting('application_name'));
	RETURN NULL;
END
$$;
CREATE TRIGGER tokens_notify AFTER UPDATE OF revoked_at, expires_at OR DELETE ON tokens FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER sessions_notify AFTER DELETE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER users_notify AFTER UPDATE OR DELETE ON users FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER memberships_notify AFTER INSERT OR UPDATE OR DELETE ON memberships FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER workspaces_notify AFTER INSERT OR UPDATE OR DELETE ON workspaces FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER agents_notify AFTER UPDATE OF name, deleted_at, latest_version ON agents FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER agent_names_notify AFTER INSERT OR UPDATE OR DELETE ON agent_names FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER versions_notify AFTER INSERT OR UPDATE ON versions FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER skills_notify AFTER INSERT OR UPDATE OR DELETE ON skills FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER gates_notify AFTER INSERT OR UPDATE OR DELETE ON gates FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER rule_packs_notify AFTER INSERT OR UPDATE OR DELETE ON rule_packs FOR EACH STATEMENT EXECUTE FUNCTION notify_change();
CREATE TRIGGER quotas_notify AFTER INSERT OR UPDATE OR DELETE ON quotas FOR EACH STATEMENT EXECUTE FUNCTION notify_change();

-- The readers of an agent at other servers get its new drafts and versions.
CREATE FUNCTION notify_draft() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('atelier', 'draft ' || NEW.agent_id || ' ' || current_setting('application_name') || ' ' || json_build_object(
		'revision', NEW.revision, 'savedAt', to_char(NEW.saved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'savedBy', json_build_object('id', NEW.saved_by_id, 'name', left(NEW.saved_by_name, 200))));
	RETURN NULL;
END
$$;
CREATE TRIGGER drafts_notify AFTER UPDATE OF revision ON drafts FOR EACH ROW EXECUTE FUNCTION notify_draft();

CREATE FUNCTION notify_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('atelier', 'version ' || NEW.agent_id || ' ' || current_setting('application_name') || ' ' || NEW.version);
	RETURN NULL;
END
$$;
CREATE TRIGGER versions_notify_readers AFTER INSERT ON versions FOR EACH ROW EXECUTE FUNCTION notify_version();

CREATE FUNCTION notify_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('atelier', 'deleted ' || NEW.id || ' ' || current_setting('application_name'));
	RETURN NULL;
END
$$;
CREATE TRIGGER agents_notify_readers AFTER UPDATE OF deleted_at ON agents FOR EACH ROW WHEN (NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION notify_deletion();

-- A new server has one workspace and its administrator.
INSERT INTO workspaces (id, name, title, created_at) VALUES ('default', 'default', 'Default', now());
INSERT INTO users (id, name, title, password, created_at) VALUES ('admin', 'admin', 'Administrator', '', now());
INSERT INTO memberships (workspace_id, user_id, role, created_at) VALUES ('default', 'admin', 'administrator', now());
