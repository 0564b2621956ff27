DROP TABLE run_events;
DROP TABLE runs;
