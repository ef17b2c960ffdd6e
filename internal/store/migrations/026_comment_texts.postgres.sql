-- +goose Up
SET LOCAL lock_timeout = '10s';

-- The activity records who commented and when, but not the text. Open removes existing
-- texts in batches. This trigger removes the texts that servers of the previous version
-- still write. It can be dropped when no such server runs any more.
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

-- The comment whose text a stored response contains, so that the response is removed
-- with the comment.
ALTER TABLE idempotency ADD COLUMN comment_id TEXT COLLATE "C";
