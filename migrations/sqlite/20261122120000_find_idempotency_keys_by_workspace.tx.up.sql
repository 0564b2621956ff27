CREATE INDEX idempotency_keys_by_workspace ON idempotency_keys (workspace_id);
