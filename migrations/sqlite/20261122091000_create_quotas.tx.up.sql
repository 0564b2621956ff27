-- What a workspace has instead of the server's defaults: NULL is the default, 0 no limit.
CREATE TABLE quotas (
	workspace_id        TEXT PRIMARY KEY NOT NULL,
	concurrent_runs     INTEGER,
	runs_per_day        INTEGER,
	cpu_seconds_per_day INTEGER,
	storage_bytes       INTEGER
);
