-- Tenants. A closed one keeps its rows and its name, and nobody enters it.
CREATE TABLE workspaces (
	id         TEXT PRIMARY KEY NOT NULL,
	name       TEXT NOT NULL UNIQUE,
	title      TEXT NOT NULL,
	created_at TIMESTAMP NOT NULL,
	closed_at  TIMESTAMP
);

CREATE TABLE users (
	id         TEXT PRIMARY KEY NOT NULL,
	name       TEXT NOT NULL UNIQUE, -- by which they log in
	title      TEXT NOT NULL, -- what others see
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

-- One-time links by which people become members. Only hashes of their secrets are kept.
CREATE TABLE invitations (
	id              TEXT PRIMARY KEY NOT NULL,
	workspace_id    TEXT NOT NULL REFERENCES workspaces (id),
	hash            TEXT NOT NULL UNIQUE,
	role            TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'approver', 'administrator')),
	note            TEXT NOT NULL, -- whom it is for
	created_by_id   TEXT NOT NULL,
	created_by_type TEXT NOT NULL,
	created_by_name TEXT NOT NULL,
	created_at      TIMESTAMP NOT NULL,
	expires_at      TIMESTAMP NOT NULL
);
CREATE INDEX invitations_of_workspace ON invitations (workspace_id, created_at);

INSERT INTO workspaces (id, name, title, created_at) VALUES ('default', 'default', 'Default', strftime('%Y-%m-%d %H:%M:%S+00:00', 'now'));
INSERT INTO users (id, name, title, password, created_at) VALUES ('admin', 'admin', 'Administrator', '', strftime('%Y-%m-%d %H:%M:%S+00:00', 'now'));
INSERT INTO memberships (workspace_id, user_id, role, created_at) VALUES ('default', 'admin', 'administrator', strftime('%Y-%m-%d %H:%M:%S+00:00', 'now'));

-- Whoever a token acts for: it may do no more than they. '' is the host's own. All that were there are the administrator's.
ALTER TABLE tokens ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
UPDATE tokens SET user_id = 'admin';
CREATE INDEX tokens_of_user ON tokens (user_id) WHERE user_id <> '';

-- Whom a link logs in.
ALTER TABLE login_links ADD COLUMN user_id TEXT NOT NULL DEFAULT 'admin';
