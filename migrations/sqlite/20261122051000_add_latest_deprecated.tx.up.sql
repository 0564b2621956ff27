-- The latest version of an agent is what name@latest stands for: the highest that is not deprecated, else the highest, which is
-- then said of it.
ALTER TABLE agents ADD COLUMN latest_deprecated BOOLEAN NOT NULL DEFAULT 0;
UPDATE agents SET (latest_version, latest_deprecated) = (
	SELECT v.version, v.deprecated FROM versions AS v
	WHERE v.agent_id = agents.id AND instr(substr(v.version, 1, instr(v.version || '+', '+') - 1), '-') = 0
	-- A cast reads the digits that a text begins with.
	ORDER BY v.deprecated, CAST(v.version AS INTEGER) DESC, CAST(substr(v.version, instr(v.version, '.') + 1) AS INTEGER) DESC,
		CAST(substr(substr(v.version, instr(v.version, '.') + 1), instr(substr(v.version, instr(v.version, '.') + 1), '.') + 1) AS INTEGER) DESC, v.version DESC
	LIMIT 1)
WHERE latest_version <> '' AND EXISTS (SELECT 1 FROM versions AS v WHERE v.agent_id = agents.id AND v.deprecated);
UPDATE agents SET listing_language = v.language, listing_text = LOWER(agents.name || char(10) || v.title || char(10) || v.description || char(10) || agents.tags)
FROM versions AS v WHERE agents.listed AND v.agent_id = agents.id AND v.version = agents.latest_version
	AND EXISTS (SELECT 1 FROM versions AS d WHERE d.agent_id = agents.id AND d.deprecated);
