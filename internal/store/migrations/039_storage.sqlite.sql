-- +goose Up
-- What a board counts against the storage of its organization: its texts, and its
-- activity. Both are counted by the statement that writes the board's version.
-- counted_at is when the rows were last counted themselves; NULL for a board of
-- before this migration, or of a server of the previous version.
ALTER TABLE boards ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE boards ADD COLUMN activity_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE boards ADD COLUMN counted_at INTEGER;
