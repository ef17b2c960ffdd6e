-- +goose Up
-- The newest cards of all boards. The index contains the board, so a query for the
-- newest cards of some boards skips the cards of others without reading them.
CREATE INDEX cards_newest ON cards (updated_at, id, board_id);
DROP INDEX cards_updated;
