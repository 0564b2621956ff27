ALTER TABLE runs DROP COLUMN draft_revision;
