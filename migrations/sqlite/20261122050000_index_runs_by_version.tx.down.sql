DROP INDEX runs_by_version;
