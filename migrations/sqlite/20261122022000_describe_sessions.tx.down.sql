ALTER TABLE sessions DROP COLUMN last_used_at;
ALTER TABLE sessions DROP COLUMN browser;
ALTER TABLE sessions DROP COLUMN address;
