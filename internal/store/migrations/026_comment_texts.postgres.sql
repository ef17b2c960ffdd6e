-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The activity of a board keeps that somebody commented, who and when, never
-- what was said. Open removes the texts that are there, some at a time. This
-- trigger removes those that a server of the version before writes meanwhile;
-- it can go once none of them runs any more.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION activity_comment_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.changes := (NEW.changes::jsonb - 'text')::text;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER activity_comment_text BEFORE INSERT ON activity FOR EACH ROW
    WHEN (NEW.type IN ('comment.added', 'comment.edited') AND NEW.changes LIKE '%"text":%') EXECUTE FUNCTION activity_comment_text();
INSERT INTO settings (key, value) VALUES ('comment_texts', 'in activity');

-- The comment whose text an answer holds, so that it is removed with the comment.
ALTER TABLE idempotency ADD COLUMN comment_id TEXT COLLATE "C";
