-- Who a person is at the provider of logins. The user is stored behind it in the same transaction.
CREATE TABLE identities (
	issuer     text NOT NULL,
	subject    text NOT NULL,
	user_id    text NOT NULL UNIQUE REFERENCES users (id) DEFERRABLE INITIALLY DEFERRED,
	created_at timestamptz NOT NULL,
	PRIMARY KEY (issuer, subject)
);
