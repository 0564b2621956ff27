-- Tenants. A closed one keeps its rows and its name, and nobody enters it.
CREATE TABLE workspaces (
	id         text PRIMARY KEY,
	name       text NOT NULL UNIQUE,
	title      text NOT NULL,
	created_at timestamptz NOT NULL,
	closed_at  timestamptz
);

CREATE TABLE users (
	id         text PRIMARY KEY,
	name       text NOT NULL UNIQUE, -- by which they log in
	title      text NOT NULL, -- what others see
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

-- One-time links by which people become members. Only hashes of their secrets are kept.
CREATE TABLE invitations (
	id              text PRIMARY KEY,
	workspace_id    text NOT NULL REFERENCES workspaces (id),
	hash            text NOT NULL UNIQUE,
	role            text NOT NULL CHECK (role IN ('viewer', 'developer', 'approver', 'administrator')),
	note            text NOT NULL, -- whom it is for
	created_by_id   text NOT NULL,
	created_by_type text NOT NULL,
	created_by_name text NOT NULL,
	created_at      timestamptz NOT NULL,
	expires_at      timestamptz NOT NULL
);
CREATE INDEX invitations_of_workspace ON invitations (workspace_id, created_at);

INSERT INTO workspaces (id, name, title, created_at) VALUES ('default', 'default', 'Default', now());
INSERT INTO users (id, name, title, password, created_at) VALUES ('admin', 'admin', 'Administrator', '', now());
INSERT INTO memberships (workspace_id, user_id, role, created_at) VALUES ('default', 'admin', 'administrator', now());

-- Whoever a token acts for: it may do no more than they. '' is the host's own. All that were there are the administrator's.
ALTER TABLE tokens ADD COLUMN user_id text NOT NULL DEFAULT '';
UPDATE tokens SET user_id = 'admin';
CREATE INDEX tokens_of_user ON tokens (user_id) WHERE user_id <> '';

-- Whom a link logs in.
ALTER TABLE login_links ADD COLUMN user_id text NOT NULL DEFAULT 'admin';
