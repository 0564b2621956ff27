DROP TABLE login_links;
DROP TABLE sessions;
DROP TABLE tokens;
