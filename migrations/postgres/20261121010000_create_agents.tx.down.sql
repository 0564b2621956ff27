DROP TABLE agent_usage;
DROP TABLE drafts;
DROP TABLE agent_names;
DROP TABLE agents;
