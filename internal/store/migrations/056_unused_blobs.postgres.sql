-- +goose Up
SET LOCAL lock_timeout = '10s';

-- When a sweep first found that the blob has no attachments; NULL while it has some.
ALTER TABLE blobs ADD COLUMN unused_since BIGINT;

-- Sweeps read the records of all blobs in the order of the primary key.
DROP INDEX blobs_stored;
