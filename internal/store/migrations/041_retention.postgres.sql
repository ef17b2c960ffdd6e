-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The versions up to which the activity of a board is reduced to the history of its
-- cards, and up to which it is removed.
ALTER TABLE boards ADD COLUMN reduced_to BIGINT NOT NULL DEFAULT 0;
ALTER TABLE boards ADD COLUMN removed_to BIGINT NOT NULL DEFAULT 0;
