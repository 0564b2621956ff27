-- How often a network has shown a wrong secret, until when it counts. A restart must not give another ten guesses.
CREATE TABLE login_failures (
	source   TEXT PRIMARY KEY NOT NULL,
	failures INTEGER NOT NULL,
	until    TIMESTAMP NOT NULL
) WITHOUT ROWID;
