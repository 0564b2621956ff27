DROP TABLE secret_uses;
DROP TABLE secrets;
