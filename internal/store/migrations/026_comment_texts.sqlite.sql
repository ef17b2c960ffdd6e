-- +goose Up
-- The activity of a board keeps that somebody commented, who and when, never
-- what was said. Open removes the texts that are there, some at a time.
INSERT INTO settings (key, value) VALUES ('comment_texts', 'in activity');

-- The comment whose text an answer holds, so that it is removed with the comment.
ALTER TABLE idempotency ADD COLUMN comment_id TEXT;
