-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- Reads an entry of the activity by its id.
DROP INDEX CONCURRENTLY IF EXISTS activity_id;
CREATE INDEX CONCURRENTLY activity_id ON activity (id);

RESET lock_timeout;
