-- +goose NO TRANSACTION
-- +goose Up
SET lock_timeout = 0;

-- The newest cards of all boards. The index contains the board, so a query for the
-- newest cards of some boards skips the cards of others without reading them.
DROP INDEX CONCURRENTLY IF EXISTS cards_newest;
CREATE INDEX CONCURRENTLY cards_newest ON cards (updated_at, id, board_id);
DROP INDEX CONCURRENTLY IF EXISTS cards_updated;

RESET lock_timeout;
