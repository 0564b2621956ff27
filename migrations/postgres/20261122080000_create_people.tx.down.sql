ALTER TABLE login_links DROP COLUMN user_id;
DROP INDEX tokens_of_user;
ALTER TABLE tokens DROP COLUMN user_id;
DROP TABLE invitations;
DROP TABLE memberships;
DROP TABLE users;
DROP TABLE workspaces;
