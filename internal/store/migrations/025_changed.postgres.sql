-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- The cards of a board by their last change: what changed last on a board, or on a
-- few, is found without reading its other cards, or the changes of others.
DROP INDEX CONCURRENTLY IF EXISTS cards_changed;
CREATE INDEX CONCURRENTLY cards_changed ON cards (board_id, updated_at, id);

RESET lock_timeout;
