DROP TABLE versions;
DROP FUNCTION refuse_version_change();
