DROP INDEX agents_by_update;
ALTER TABLE agents DROP COLUMN deletion;
