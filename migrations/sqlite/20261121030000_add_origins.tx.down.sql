DROP INDEX agents_listed;
ALTER TABLE agents DROP COLUMN origin;
