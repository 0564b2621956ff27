ALTER TABLE agents DROP COLUMN latest_deprecated;
