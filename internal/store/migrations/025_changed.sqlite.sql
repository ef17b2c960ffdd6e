-- +goose Up
-- The cards of a board by their last change: what changed last on a few boards is
-- found without reading the changes of all others.
CREATE INDEX cards_changed ON cards (board_id, updated_at, id);
