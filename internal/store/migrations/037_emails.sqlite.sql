-- +goose Up
-- The queue of emails gets the name that the code uses for it. The columns
-- notifications.letter_id and invitations.lettered_at keep their names, as on
-- PostgreSQL. Only one server uses a SQLite file, so the old name of the table is not
-- needed.
ALTER TABLE letters RENAME TO emails;
DROP INDEX letters_about;
DROP INDEX letters_due;
CREATE UNIQUE INDEX emails_about ON emails (kind, about);
CREATE INDEX emails_due ON emails (due_at, id);
