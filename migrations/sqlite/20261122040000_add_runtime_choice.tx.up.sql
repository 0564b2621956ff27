ALTER TABLE versions ADD COLUMN runtime_choice TEXT; -- JSON: why auto chose the runtime

DROP TRIGGER versions_are_immutable;
CREATE TRIGGER versions_are_immutable BEFORE UPDATE OF id, workspace_id, agent_id, agent_name, version, digest,
	content_digest, code_digest, title, description, language, runtime, published_by_id, published_by_type,
	published_by_name, published_at, changelog, override, runtime_choice, files_digest, spec, files ON versions
BEGIN
	SELECT RAISE(ABORT, 'a published version is immutable');
END;
