-- +goose Up
-- Stored responses that contain the text of a comment.
CREATE INDEX idempotency_comment ON idempotency (comment_id) WHERE comment_id IS NOT NULL;
