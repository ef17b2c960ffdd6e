-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- Stored responses that contain the text of a comment.
DROP INDEX CONCURRENTLY IF EXISTS idempotency_comment;
CREATE INDEX CONCURRENTLY idempotency_comment ON idempotency (comment_id) WHERE comment_id IS NOT NULL;

RESET lock_timeout;
