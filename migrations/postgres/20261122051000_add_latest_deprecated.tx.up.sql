-- The latest version of an agent is what name@latest stands for: the highest that is not deprecated, else the highest, which is
-- then said of it.
ALTER TABLE agents ADD COLUMN latest_deprecated boolean NOT NULL DEFAULT false;
UPDATE agents SET latest_version = best.version, latest_deprecated = best.deprecated
FROM (SELECT DISTINCT ON (v.agent_id) v.agent_id, v.version, v.deprecated FROM versions AS v
	WHERE position('-' IN split_part(v.version, '+', 1)) = 0
	ORDER BY v.agent_id, v.deprecated, string_to_array(split_part(v.version, '+', 1), '.')::numeric[] DESC, v.version DESC) AS best
WHERE best.agent_id = agents.id AND EXISTS (SELECT 1 FROM versions AS v WHERE v.agent_id = agents.id AND v.deprecated);
UPDATE agents SET listing_language = v.language, listing_text = LOWER(agents.name || chr(10) || v.title || chr(10) || v.description || chr(10) || agents.tags::text)
FROM versions AS v WHERE agents.listed AND v.agent_id = agents.id AND v.version = agents.latest_version
	AND EXISTS (SELECT 1 FROM versions AS d WHERE d.agent_id = agents.id AND d.deprecated);
