-- Tokens that are there keep all their rights.
ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT '["admin"]';
ALTER TABLE tokens ADD COLUMN agents TEXT NOT NULL DEFAULT '[]';
