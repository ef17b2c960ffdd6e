-- +goose Up
-- What a board adds to the storage of its organization: its texts and its activity. The
-- statement that writes the board's version updates both counters. counted_at is when
-- the counters were last computed from the rows. It is NULL for a board from before
-- this migration or from a server of the previous version.
ALTER TABLE boards ADD COLUMN text_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE boards ADD COLUMN activity_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE boards ADD COLUMN counted_at INTEGER;
