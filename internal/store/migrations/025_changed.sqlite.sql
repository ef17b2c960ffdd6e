-- +goose Up
-- The cards of a board by their last change: what changed last on a board, or on a
-- few, is found without reading its other cards, or the changes of others.
CREATE INDEX cards_changed ON cards (board_id, updated_at, id);
