CREATE TABLE versions (
	id                text COLLATE "C" PRIMARY KEY,
	workspace_id      text NOT NULL,
	agent_id          text COLLATE "C" NOT NULL REFERENCES agents (id),
	agent_name        text NOT NULL, -- when it was published: the digest covers it
	version           text COLLATE "C" NOT NULL,
	digest            text NOT NULL,
	content_digest    text NOT NULL,
	code_digest       text NOT NULL,
	title             text NOT NULL,
	description       text NOT NULL,
	language          text NOT NULL,
	runtime           text NOT NULL,
	published_by_id   text NOT NULL,
	published_by_type text NOT NULL,
	published_by_name text NOT NULL,
	published_at      timestamptz NOT NULL,
	deprecated        boolean NOT NULL,
	deprecated_reason text NOT NULL,
	changelog         text NOT NULL,
	files_digest      text, -- of the blob that holds the files when they are large
	spec              json NOT NULL, -- without files; json keeps what the digests were computed over
	files             json, -- path to content
	UNIQUE (agent_id, version),
	CHECK ((files IS NULL) <> (files_digest IS NULL))
);
CREATE INDEX versions_by_digest ON versions (agent_id, digest);
CREATE INDEX versions_by_content ON versions (workspace_id, content_digest);

-- What was published stays as it is, whatever the program above does. Deprecation is not content.
CREATE FUNCTION refuse_version_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'a published version is immutable';
END
$$;
CREATE TRIGGER versions_are_immutable BEFORE UPDATE OF id, workspace_id, agent_id, agent_name, version, digest,
	content_digest, code_digest, title, description, language, runtime, published_by_id, published_by_type,
	published_by_name, published_at, changelog, files_digest, spec, files ON versions
	FOR EACH ROW EXECUTE FUNCTION refuse_version_change();
CREATE TRIGGER versions_are_kept BEFORE DELETE ON versions
	FOR EACH ROW EXECUTE FUNCTION refuse_version_change();
