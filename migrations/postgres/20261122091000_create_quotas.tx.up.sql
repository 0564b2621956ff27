-- What a workspace has instead of the server's defaults: NULL is the default, 0 no limit.
CREATE TABLE quotas (
	workspace_id        text PRIMARY KEY NOT NULL,
	concurrent_runs     bigint,
	runs_per_day        bigint,
	cpu_seconds_per_day bigint,
	storage_bytes       bigint
);
