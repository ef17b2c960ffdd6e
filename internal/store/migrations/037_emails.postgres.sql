-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The queue of emails gets the name that the program uses for it. The columns
-- notifications.letter_id and invitations.lettered_at keep their names, because
-- a column cannot have a second name for older servers.
ALTER TABLE letters RENAME TO emails;
ALTER INDEX letters_pkey RENAME TO emails_pkey;
ALTER INDEX letters_about RENAME TO emails_about;
ALTER INDEX letters_due RENAME TO emails_due;

-- Servers of the previous version go on reading and writing the queue under its
-- old name during a rolling upgrade. Only consecutive versions run side by side,
-- so the version after the next can drop this view.
CREATE VIEW letters AS SELECT id, kind, about, attempts, due_at, created_at FROM emails;
