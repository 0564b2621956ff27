-- Tokens that are there keep all their rights.
ALTER TABLE tokens ADD COLUMN scopes text NOT NULL DEFAULT '["admin"]';
ALTER TABLE tokens ADD COLUMN agents text NOT NULL DEFAULT '[]';
