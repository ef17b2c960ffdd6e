-- +goose Up
-- The activity records who commented and when, but not the text. Open removes existing
-- texts in batches.
INSERT INTO settings (key, value) VALUES ('comment_texts', 'in activity');

-- The comment whose text a stored response contains, so that the response is removed
-- with the comment.
ALTER TABLE idempotency ADD COLUMN comment_id TEXT;
