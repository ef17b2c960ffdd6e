-- +goose Up
-- Counts the done cards of boards that a server before v0.2.1 changed while v0.2.1 was
-- already running. Such a server did not maintain the number.
UPDATE boards SET done_cards = (SELECT count(c.done_at) FROM lists l JOIN cards c ON c.list_id = l.id
    WHERE c.archived_at IS NULL AND l.archived_at IS NULL AND l.board_id = boards.id)
WHERE done_cards_version IS DISTINCT FROM version;
