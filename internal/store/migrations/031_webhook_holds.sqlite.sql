-- +goose Up
-- Until when the receiver of a webhook asked for a pause. It is set together with
-- held_since, and means nothing without that.
ALTER TABLE webhooks ADD COLUMN held_until INTEGER;
