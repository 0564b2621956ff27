CREATE TABLE versions (
	id                TEXT PRIMARY KEY NOT NULL,
	workspace_id      TEXT NOT NULL,
	agent_id          TEXT NOT NULL REFERENCES agents (id),
	agent_name        TEXT NOT NULL, -- when it was published: the digest covers it
	version           TEXT NOT NULL,
	digest            TEXT NOT NULL,
	content_digest    TEXT NOT NULL,
	code_digest       TEXT NOT NULL,
	title             TEXT NOT NULL,
	description       TEXT NOT NULL,
	language          TEXT NOT NULL,
	runtime           TEXT NOT NULL,
	published_by_id   TEXT NOT NULL,
	published_by_type TEXT NOT NULL,
	published_by_name TEXT NOT NULL,
	published_at      TIMESTAMP NOT NULL,
	deprecated        BOOLEAN NOT NULL,
	deprecated_reason TEXT NOT NULL,
	changelog         TEXT NOT NULL,
	files_digest      TEXT, -- of the blob that holds the files when they are large
	spec              TEXT NOT NULL, -- JSON without files
	files             TEXT, -- JSON: path to content
	UNIQUE (agent_id, version),
	CHECK ((files IS NULL) <> (files_digest IS NULL))
);
CREATE INDEX versions_by_digest ON versions (agent_id, digest);
CREATE INDEX versions_by_content ON versions (workspace_id, content_digest);

-- What was published stays as it is, whatever the program above does. Deprecation is not content.
CREATE TRIGGER versions_are_immutable BEFORE UPDATE OF id, workspace_id, agent_id, agent_name, version, digest,
	content_digest, code_digest, title, description, language, runtime, published_by_id, published_by_type,
	published_by_name, published_at, changelog, files_digest, spec, files ON versions
BEGIN
	SELECT RAISE(ABORT, 'a published version is immutable');
END;
CREATE TRIGGER versions_are_kept BEFORE DELETE ON versions
BEGIN
	SELECT RAISE(ABORT, 'a published version is kept');
END;
