-- Who a person is at the provider of logins. The user is stored behind it in the same transaction.
CREATE TABLE identities (
	issuer     TEXT NOT NULL,
	subject    TEXT NOT NULL,
	user_id    TEXT NOT NULL UNIQUE REFERENCES users (id) DEFERRABLE INITIALLY DEFERRED,
	created_at TIMESTAMP NOT NULL,
	PRIMARY KEY (issuer, subject)
);
