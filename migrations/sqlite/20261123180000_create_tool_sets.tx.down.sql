DROP TABLE tool_sets;
