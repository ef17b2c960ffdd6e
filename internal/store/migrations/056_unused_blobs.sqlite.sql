-- +goose Up
-- When a sweep first found that the blob has no attachments; NULL while it has some.
ALTER TABLE blobs ADD COLUMN unused_since INTEGER;

-- Sweeps read the records of all blobs in the order of the primary key.
DROP INDEX blobs_stored;
