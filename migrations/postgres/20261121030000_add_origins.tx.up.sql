-- Where a copied agent came from, as JSON; '' for one that was made here.
ALTER TABLE agents ADD COLUMN origin TEXT NOT NULL DEFAULT '';
CREATE INDEX agents_listed ON agents (name, id) WHERE listed AND deleted_at IS NULL;
