DROP TABLE draft_contents;
DROP TABLE draft_saves;
