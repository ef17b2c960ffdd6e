-- +goose Up
-- The cards of a board by their last change. A query for the latest changes on one or a
-- few boards reads no other cards and no other boards.
CREATE INDEX cards_changed ON cards (board_id, updated_at, id);
