-- How often a network has shown a wrong secret, until when it counts. A restart must not give another ten guesses.
CREATE TABLE login_failures (
	source   text PRIMARY KEY,
	failures integer NOT NULL,
	until    timestamptz NOT NULL
);
