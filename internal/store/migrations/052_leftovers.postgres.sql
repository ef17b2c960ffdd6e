-- +goose Up
SET LOCAL lock_timeout = '10s';

-- A setting of former migrations that nothing reads.
DELETE FROM settings WHERE key = 'open_cards';

-- What servers before v0.2.1 needed while both versions were running. Only databases that
-- such a version created have them.
DROP VIEW IF EXISTS letters;
DROP TRIGGER IF EXISTS activity_comment_text ON activity;
DROP FUNCTION IF EXISTS activity_comment_text();
DROP INDEX IF EXISTS texts_words, texts_by_workspace;
