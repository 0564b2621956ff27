ALTER TABLE idempotency_keys DROP COLUMN made_id;
ALTER TABLE idempotency_keys DROP COLUMN made_kind;
ALTER TABLE idempotency_keys DROP COLUMN epoch;
ALTER TABLE idempotency_keys DROP COLUMN server_id;
ALTER TABLE runs DROP COLUMN result_seq;
ALTER TABLE runs DROP COLUMN epoch;
ALTER TABLE runs DROP COLUMN server_id;
DROP TABLE servers;
