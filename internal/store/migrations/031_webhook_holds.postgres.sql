-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The end of the pause that the receiver of a webhook asked for. It is valid only while
-- held_since is set.
ALTER TABLE webhooks ADD COLUMN held_until BIGINT;
