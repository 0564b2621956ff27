ALTER TABLE runs ADD COLUMN draft_revision INTEGER NOT NULL DEFAULT 0; -- of a run of a draft
