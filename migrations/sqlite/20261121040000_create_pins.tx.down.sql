ALTER TABLE versions DROP COLUMN deprecated_successor;
DROP TABLE pins;
