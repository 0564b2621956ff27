DROP TABLE skills;
