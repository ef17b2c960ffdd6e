-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The queue of emails gets the name that the code uses for it. The columns
-- notifications.letter_id and invitations.lettered_at keep their names, because older
-- servers still use these names and a column cannot have two.
ALTER TABLE letters RENAME TO emails;
ALTER INDEX letters_pkey RENAME TO emails_pkey;
ALTER INDEX letters_about RENAME TO emails_about;
ALTER INDEX letters_due RENAME TO emails_due;

-- During a rolling upgrade, servers of the previous version read and write the queue
-- through this view, under its old name. Only consecutive versions run at the same
-- time, so the version after the next can drop the view.
CREATE VIEW letters AS SELECT id, kind, about, attempts, due_at, created_at FROM emails;
