DROP TRIGGER versions_are_kept;
DROP TRIGGER versions_are_immutable;
DROP TABLE versions;
